"""How fast a GPU can read pages with Chandra-OCR-2: operations and bytes, and what limits them.

Owns the model of the work and its constants. Never knows fleets, prices or papers: see
`moonpress.bench.plan`.

A page costs operations once, for its picture and its prompt, and bytes at every step of writing:
the weights, shared by all sequences that are written together, and each sequence's keys, values and
recurrent state. The two take turns on a GPU. What a server reaches of that is one factor, fitted
to runs on an H200 with random weights of the real sizes (docs/performance.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpress.bench.gpu_kinds import GpuKind

# Of a letter page at 192 dpi: 3,366 visual tokens and a prompt of 621.
_VISUAL_TOKENS: Final = 3366
_PROMPT_TOKENS: Final = 621
# 10^12 operations: the decoder over picture and prompt; the vision tower's layers; its attention,
# which grows with the square of the picture.
_PREFILL: Final = 28.7
_VISION_LINEAR: Final = 8.0
_VISION_ATTENTION: Final = 17.8
# 10^9 bytes: read at each step; of one token's keys and values in eight layers; of one sequence's
# state in the other 24, which is read and written.
_WEIGHTS_READ: Final = 9.0
_KV_PER_TOKEN: Final = 32.768e-6
_STATE: Final = 0.05
# Beside the cache: all weights, then graphs, activations and pictures in work.
_WEIGHTS: Final = 10.6
_WORKSPACE: Final = 4.0
_MEMORY_SHARE: Final = 0.92
# Of the data sheet, in large matrix products and copies on an H200.
_COMPUTE_REACHED: Final = 0.80
_BANDWIDTH_REACHED: Final = 0.90


@dataclass(frozen=True, slots=True)
class Flags:
    """How a server is started.

    Attributes:
        name: For people.
        sequences: Pages written together at most.
        reached: Share of the roofline that such a server reaches on an H200, fitted.
    """

    name: str
    sequences: int
    reached: float


# 3.86 pages/s in the steady part of 640 pages at 256 in flight.
TUNED: Final = Flags("presets", 256, 0.558)
# 2.30 pages/s with the start flags of chandra-ocr 0.2.0 at 96 in flight.
ORIGINAL: Final = Flags("the original's flags", 64, 0.398)


@dataclass(frozen=True, slots=True)
class PageWork:
    """What is asked of a model for a page.

    Attributes:
        visual_tokens: Of its picture.
        output_tokens: Written, on average.
    """

    visual_tokens: float = _VISUAL_TOKENS
    output_tokens: float = 1150

    @property
    def operations(self) -> float:
        """10^12 operations before the first token is written."""
        size = self.visual_tokens / _VISUAL_TOKENS
        prompt = (self.visual_tokens + _PROMPT_TOKENS) / (_VISUAL_TOKENS + _PROMPT_TOKENS)
        return _PREFILL * prompt + _VISION_LINEAR * size + _VISION_ATTENTION * size**2

    @property
    def context(self) -> float:
        """Tokens of a sequence, on average over its writing."""
        return self.visual_tokens + _PROMPT_TOKENS + self.output_tokens / 2


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one replica reads.

    Attributes:
        pages_per_second: Sustained.
        sequences: Pages written together.
        prefill_seconds: Of the GPU for a page, before it is written.
        decode_seconds: Of the GPU for a page, its share of the steps of writing.
    """

    pages_per_second: float
    sequences: int
    prefill_seconds: float
    decode_seconds: float

    @property
    def bound_by(self) -> str:
        """``prefill`` or ``decode``, whichever takes more of the GPU's time."""
        return "prefill" if self.prefill_seconds > self.decode_seconds else "decode"


def room_gb(kind: GpuKind, gpus: int = 1) -> float:
    """10^9 bytes that are left for sequences on a replica of so many GPUs; may be negative."""
    return gpus * (kind.memory_gb * _MEMORY_SHARE - _WORKSPACE) - _WEIGHTS


def speed_of(kind: GpuKind, work: PageWork, flags: Flags, *, gpus: int = 1) -> Speed | None:
    """How fast a replica reads.

    Args:
        kind: Of GPU.
        work: Of a page.
        flags: How its server is started.
        gpus: Of a replica, with tensor parallelism; the cost of their talk is not counted.

    Returns:
        ``None`` when not even one page fits.
    """
    each = work.context * _KV_PER_TOKEN + _STATE
    sequences = min(flags.sequences, int(room_gb(kind, gpus) / each))
    if sequences < 1:
        return None
    prefill = work.operations / (gpus * kind.tflops * _COMPUTE_REACHED)
    moved = _WEIGHTS_READ + sequences * (each + _STATE)
    step = moved / 1000 / (gpus * kind.bandwidth * _BANDWIDTH_REACHED)
    decode = work.output_tokens * step / sequences
    rate = flags.reached / (prefill + decode)
    return Speed(rate, sequences, prefill / flags.reached, decode / flags.reached)
