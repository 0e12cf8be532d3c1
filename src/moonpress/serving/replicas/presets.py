"""Flags of vLLM for each kind of GPU, each with its reason.

Owns the tables; ``docs/serve.md`` shows them. Never trades accuracy: weights and caches of eight
bits are for those who ask for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from moonpress.errors import UnknownName

NONE = "none"
AUTO = "auto"
_GB = 10**9


class Basis(StrEnum):
    """Where a value comes from."""

    MEASURED = "measured"
    CALCULATED = "calculated"
    MODEL = "the model's sizes"


@dataclass(frozen=True, slots=True)
class Advice:
    """One flag.

    Attributes:
        flag: As vLLM spells it.
        value: ``None`` for a flag that stands alone.
        reason: One clause, for people.
        basis: Where the value comes from.
    """

    flag: str
    value: str | None
    reason: str
    basis: Basis


@dataclass(frozen=True, slots=True)
class Preset:
    """What a kind of GPU is given.

    Attributes:
        name: For ``--preset``.
        names: Parts of what the driver calls such GPUs, in small letters.
        least: Bytes that such a GPU has at least: some names come in several sizes.
        advice: Flags beyond `COMMON`.
        servers: Processes that take requests, if the machine has four cores for each of them.
    """

    name: str
    names: tuple[str, ...]
    least: int
    advice: tuple[Advice, ...]
    servers: int = 1


COMMON = (
    Advice(
        "--max-model-len",
        "24576",
        "a picture of 6,144 tokens, the prompt's 650 and a reply of 12,384 are 19,178; 18,000, as "
        "the model was published with, refuses the largest pages",
        Basis.MODEL,
    ),
    Advice(
        "--no-enable-prefix-caching",
        None,
        "the picture stands before the prompt, so that no two pages begin alike",
        Basis.MEASURED,
    ),
    Advice(
        "--mm-processor-cache-gb",
        "0",
        "no picture comes twice; the cache is host memory for each process",
        Basis.MEASURED,
    ),
    Advice(
        "--limit-mm-per-prompt",
        '{"image": 1, "video": 0}',
        "one picture a request: no room is kept for videos",
        Basis.MODEL,
    ),
)


def _sequences(count: int, basis: Basis, why: str) -> Advice:
    return Advice("--max-num-seqs", str(count), why, basis)


def _batched(tokens: int, basis: Basis, why: str) -> Advice:
    return Advice("--max-num-batched-tokens", str(tokens), why, basis)


def _room(gigabytes: int, count: int) -> Advice:
    why = (
        f"{gigabytes} GB less 10.6 of weights and 3 of work space hold as many pages of 0.22 GB "
        "(5,100 tokens of 32 KiB, 50 MB of state)"
    )
    return _sequences(count, Basis.CALCULATED, why)


_SMALL_STEPS = _batched(
    8192, Basis.CALCULATED, "two pages a step; more would take work space that pages need"
)
_UTILISATION = Advice(
    "--gpu-memory-utilization", "0.92", "the runs with the most pages a second", Basis.MEASURED
)
_CARD = Advice(
    "--gpu-memory-utilization", "0.90", "cards often drive a screen too", Basis.CALCULATED
)
_TRITON = Advice(
    "--gdn-prefill-backend",
    "triton",
    "measured with it; FlashInfer's kernel is compiled at the first start",
    Basis.MEASURED,
)
_LARGE = (
    _sequences(256, Basis.MEASURED, "3.46 pages a second against 2.30 with 64"),
    _batched(16384, Basis.MEASURED, "four pages a step; part of the same measurement"),
    _UTILISATION,
    _TRITON,
)

_GH = "gh200"
PRESETS = (
    Preset("b200", ("b200", "b300", "gb200", "gb300"), 150 * _GB, _LARGE, servers=4),
    Preset("h200", ("h200", _GH), 120 * _GB, _LARGE, servers=4),
    Preset(
        "h100",
        ("h100", "h800", _GH),
        76 * _GB,
        (_room(80, 256), _batched(16384, Basis.CALCULATED, "as on an H200"), _UTILISATION, _TRITON),
        servers=4,
    ),
    Preset(
        "a100",
        ("a100", "a800", "rtx pro 6000"),
        76 * _GB,
        (_room(80, 256), _SMALL_STEPS, _UTILISATION),
        servers=2,
    ),
    Preset("a100-40", ("a100", "a800"), 38 * _GB, (_room(40, 96), _SMALL_STEPS, _UTILISATION)),
    Preset(
        "l40s",
        ("l40", "a40", "6000 ada", "rtx a6000", "rtx pro 5000"),
        42 * _GB,
        (_room(48, 128), _SMALL_STEPS, _UTILISATION),
        servers=2,
    ),
    Preset("5090", ("5090",), 30 * _GB, (_room(32, 64), _SMALL_STEPS, _CARD)),
    Preset("4090", ("4090", "3090", "a5000"), 22 * _GB, (_room(24, 32), _SMALL_STEPS, _CARD)),
    Preset("l4", ("l4", "a10"), 22 * _GB, (_room(24, 32), _SMALL_STEPS, _UTILISATION)),
    Preset(
        "16gb",
        ("4080", "5080", "4060 ti", "5060 ti", "5070 ti", "a4000", "a16"),
        15 * _GB,
        (_room(16, 8), _batched(4096, Basis.CALCULATED, "a page a step"), _CARD),
    ),
)


def names() -> tuple[str, ...]:
    """What ``--preset`` takes."""
    return (AUTO, *(preset.name for preset in PRESETS), NONE)


def by_name(name: str) -> Preset | None:
    """The preset of that name; ``None`` for ``none``.

    Raises:
        UnknownName: there is none of that name.
    """
    if name == NONE:
        return None
    for preset in PRESETS:
        if preset.name == name.lower():
            return preset
    raise UnknownName(f"there is no preset {name!r}", hint=f"There are {', '.join(names())}")


def for_gpu(name: str, memory: int) -> Preset | None:
    """The preset for a GPU.

    Args:
        name: As the driver calls it.
        memory: Bytes; 0 when unknown.

    Returns:
        That of its kind, else the largest that is made for no more memory, else ``None``.
    """
    words = " ".join(name.lower().replace("-", " ").split())
    fitting = [preset for preset in PRESETS if not memory or preset.least <= memory]
    for preset in fitting:
        # L4 is no L40, but L40S is much like an L40.
        if any(re.search(rf"\b{part}(?!\d)", words) for part in preset.names):
            return preset
    by_memory = [preset for preset in fitting if memory]
    return max(by_memory, key=lambda preset: preset.least, default=None)
