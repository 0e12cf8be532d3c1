"""Flags of vLLM as people write them, and as vLLM takes them.

Owns reading a list of flags, values that vLLM spells otherwise, and asking vLLM itself whether it
knows them. Never decides which flags a replica gets.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from moonpress.errors import UsageError
from moonpress.serving.replicas.program import python_of

_SHORT = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-asc": "--api-server-count",
    "-q": "--quantization",
}
_FLOATS = {
    "fp16": "float16", "f16": "float16", "half": "float16",
    "bf16": "bfloat16",
    "fp32": "float32", "f32": "float32",
}  # fmt: skip
_EIGHT_BITS = {
    "float8": "fp8", "f8": "fp8",
    "e4m3": "fp8_e4m3", "fp8_e4m3fn": "fp8_e4m3", "float8_e4m3fn": "fp8_e4m3",
    "float8_e4m3": "fp8_e4m3",
    "e5m2": "fp8_e5m2", "float8_e5m2": "fp8_e5m2",
}  # fmt: skip
_DTYPES = {"--dtype", "--kv-cache-dtype", "--mamba-cache-dtype", "--mamba-ssm-cache-dtype"}
_SHARES = {"--gpu-memory-utilization"}
_YES, _NO = {"true", "yes", "on"}, {"false", "no", "off"}
_SWITCH = re.compile(r"--(?:enable|disable|enforce|trust|no|async)-")
_BEFORE = "Give it before the --"
_TLS = "TLS is for --tls-certificate and --tls-key"
# What the service decides about its replicas, and what to do instead.
_OWN = {
    "--host": "Replicas listen on this machine alone; --host says where the service listens",
    "--port": "Replicas get free ports; --port says where the service listens",
    "--uds": "Replicas get free ports",
    "--model": _BEFORE,
    "--tensor-parallel-size": _BEFORE,
    "--pipeline-parallel-size": _BEFORE,
    "--data-parallel-size": _BEFORE,
    "--api-key": "Replicas get a key of their own; --keys-file says who may ask the service",
    "--root-path": "Nobody but the service asks replicas",
    "--headless": "A replica without a server cannot be asked",
    "--grpc": "Replicas are asked over HTTP",
    "--ssl-keyfile": _TLS,
    "--ssl-certfile": _TLS,
    "--ssl-ca-certs": _TLS,
    "--config": "Write the flags themselves",
}
_CHECK_SECONDS = 180
_LONGEST = 400
# What vLLM's own command does up to the moment at which a server would start.
_CHECK = """\
import sys
from vllm.entrypoints.cli import main, serve
serve.ServeSubcommand.cmd = staticmethod(lambda args: None)
sys.argv[0] = "vllm"
main.main()
"""
_REFUSED = 2


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag.

    Attributes:
        name: With dashes, in full.
        values: Words behind it.
    """

    name: str
    values: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it decides: the same for a flag, its opposite and a part of its value."""
        return self.name.replace("--no-", "--", 1).partition(".")[0]

    @property
    def words(self) -> tuple[str, ...]:
        """As a command line has it."""
        return (self.name, *self.values)


def read_flags(words: Sequence[str]) -> tuple[Flag, ...]:
    """The flags of a user's command line, in vLLM's spelling.

    Raises:
        UsageError: a word belongs to no flag, or the service decides that itself.
    """
    flags = split_flags(words)
    for flag in flags:
        if flag.name in _OWN:
            message = f"{flag.name} of a replica is the service's to decide"
            raise UsageError(message, hint=_OWN[flag.name])
    return tuple(_as_vllm_says(flag) for flag in flags)


def split_flags(words: Sequence[str]) -> tuple[Flag, ...]:
    """The flags of a command line, as they are.

    Raises:
        UsageError: a word belongs to no flag.
    """
    flags: list[Flag] = []
    for word in words:
        if _is_name(word):
            name, _, value = word.partition("=")
            flags.append(Flag(_full(name), (value,) if value else ()))
        elif not flags:
            raise UsageError(f"unexpected argument {word!r}", hint="See chandra-serve --help")
        else:
            last = flags[-1]
            flags[-1] = Flag(last.name, (*last.values, word))
    return tuple(flags)


def words_of(flags: Iterable[Flag]) -> tuple[str, ...]:
    """The command line of flags."""
    return tuple(word for flag in flags for word in flag.words)


def last_value(flags: Iterable[Flag], about: str) -> str | None:
    """The value that counts where a flag is given several times; ``None`` without one."""
    found = [flag.values[0] for flag in flags if flag.about == about and flag.values]
    return found[-1] if found else None


def _is_name(word: str) -> bool:
    """Whether it begins a flag: a dash and a letter, for there are negative numbers."""
    return bool(re.match(r"--?[A-Za-z]", word))


def _full(name: str) -> str:
    name = _SHORT.get(name, name)
    if not name.startswith("--"):
        return name
    head, dot, tail = name.partition(".")
    return f"{head.replace('_', '-')}{dot}{tail}"


def _as_vllm_says(flag: Flag) -> Flag:
    if len(flag.values) != 1:
        return flag
    value = flag.values[0]
    low = value.lower()
    if flag.name in _DTYPES:
        plain = low.replace("-", "_")
        return Flag(flag.name, (_FLOATS.get(plain) or _EIGHT_BITS.get(plain) or plain,))
    if flag.name in _SHARES:
        return Flag(flag.name, (_share(value),))
    if _SWITCH.match(flag.name) and low in _YES:
        return Flag(flag.name)
    if _SWITCH.match(flag.name) and low in _NO:
        return Flag(_opposite(flag.name))
    return flag


def _share(value: str) -> str:
    """``92%``, ``92`` and ``0,92`` are 0.92."""
    found = re.fullmatch(r"(\d+(?:[.,]\d+)?)\s*%?", value.strip())
    if found is None:
        return value
    number = float(found[1].replace(",", "."))
    return f"{number / 100:g}" if 1 < number <= 100 else f"{number:g}"


def _opposite(name: str) -> str:
    return f"--{name[5:]}" if name.startswith("--no-") else f"--no-{name[2:]}"


def check_with_vllm(
    command: Sequence[str], model: str, words: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Have vLLM read flags, which takes about ten seconds, without starting anything.

    Args:
        command: The vllm program.
        model: As for ``vllm serve``.
        words: The flags.
        environment: Of the program.

    Raises:
        UsageError: vLLM refuses one; its own words are the message. Where vLLM cannot be asked,
            nothing is raised: the replica's log will tell.
    """
    python = python_of(command[0])
    if python is None or not words:
        return
    try:
        done = subprocess.run(
            [python, "-c", _CHECK, "serve", model, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=_CHECK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    said = refusal(done.stderr.splitlines())
    if done.returncode == _REFUSED and said is not None:
        raise UsageError(f"vLLM refuses: {said}", hint="vllm serve --help=all lists its flags")


def refusal(lines: Iterable[str]) -> str | None:
    """What vLLM says about flags that it refuses; ``None`` when it says nothing of the kind."""
    for line in lines:
        found = re.search(r"\bvllm(?: serve)?: error: (.+)", line)
        if found:
            words = found[1].strip().rstrip(".")
            return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
    return None
