"""The child process in which one engine reads pages, one request a line.

Owns the measuring of CPU time and memory of the process and its descendants. Imports nothing but
the standard library and the runner, so that it also runs in the environments of other tools.

    python -m benchmarks.accuracy.child benchmarks.accuracy.runners.tesseract:create '{"psm": 3}'
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever the engine's libraries print must not mix with the answers.
    os.dup2(2, 1)
    module, _, factory = sys.argv[1].partition(":")
    read = getattr(importlib.import_module(module), factory)(**json.loads(sys.argv[2]))
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(read, request)) + "\n")
        answers.flush()


def _answer(read: Any, request: dict[str, Any]) -> dict[str, Any]:
    begin, cpu = time.perf_counter(), _cpu_seconds()
    markdown, error = "", ""
    try:
        markdown = read(Path(request["path"]), request["page"])
    except Exception as problem:  # noqa: BLE001  an engine's failure is a result here
        error = f"{type(problem).__name__}: {problem}"[:500]
    return {
        # Lone surrogates of a reader's output cannot be written to any file.
        "markdown": markdown.encode("utf-8", "replace").decode("utf-8"),
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": _cpu_seconds() - cpu,
        "peak_mb": _peak_mb(),
        "error": error,
    }


def _descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, queue = [], [os.getpid()]
    while queue:
        children = parents.get(queue.pop(), [])
        found += children
        queue += children
    return found


def _stat(pid: int) -> list[str]:
    """Fields of ``/proc/PID/stat`` from the state on; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_seconds() -> float:
    """User and system time of this process, its reaped children and its living descendants."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    for pid in _descendants():
        fields = _stat(pid)
        if fields:
            total += sum(int(x) for x in fields[11:15]) / _TICK
    return total


def _peak_mb() -> float:
    """Peak of this process plus that of its living descendants or of its largest dead child."""
    living = sum(_high_water_mb(pid) for pid in _descendants())
    dead = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return _high_water_mb(os.getpid()) + max(living, dead)


def _high_water_mb(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


if __name__ == "__main__":
    main()
