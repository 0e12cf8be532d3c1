"""The vllm program.

Owns finding it and its interpreter. Never runs them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from moonpress.errors import EngineUnavailable

VARIABLE = "MOONPRESS_VLLM"
_HINT = 'Run pip install "moonpress[vllm]" vllm, or name one elsewhere with --vllm PATH'


def vllm_command(named: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The program: the one that is named, else beside this Python, else on the ``PATH``.

    Args:
        named: Path of the program, or of an environment that has it under ``bin``.
        environment: Variables of this process.

    Raises:
        EngineUnavailable: there is none.
    """
    wanted = named or environment.get(VARIABLE)
    if wanted:
        for path in (Path(wanted), Path(wanted) / "bin" / "vllm"):
            if path.is_file():
                return (str(path),)
        raise EngineUnavailable(f"there is no vllm at {wanted}", hint="Check --vllm")
    beside = Path(sys.executable).parent / "vllm"
    if beside.is_file():
        return (str(beside),)
    found = shutil.which("vllm", path=environment.get("PATH"))
    if found is None:
        raise EngineUnavailable("the program vllm is not installed here", hint=_HINT)
    return (found,)


def python_of(program: str) -> str | None:
    """The interpreter of an installed Python program, from its first line; ``None`` without one."""
    path = Path(program)
    try:
        with path.open("rb") as file:
            first = file.readline(300).decode("utf-8", "replace").strip()
    except OSError:
        return None
    if first.startswith("#!") and "python" in first and "env " not in first:
        return first[2:].strip()
    beside = path.parent / "python3"
    return str(beside) if beside.exists() else None
