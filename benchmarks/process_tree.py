"""CPU time and memory of this process and its descendants, from ``/proc``.

Owns the reading of Linux's numbers. Imports nothing but the standard library.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def descendants() -> list[int]:
    """Process ids of all living descendants of this process."""
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


def cpu_seconds() -> float:
    """User and system time of this process, its reaped children and its living descendants."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    for pid in descendants():
        fields = _stat(pid)
        if fields:
            total += sum(int(x) for x in fields[11:15]) / _TICK
    return total


def peak_mb() -> float:
    """Peak of this process plus that of its living descendants or of its largest dead child."""
    living = sum(_memory_mb("VmHWM", pid) for pid in descendants())
    dead = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return _memory_mb("VmHWM", os.getpid()) + max(living, dead)


def resident_mb() -> float:
    """Resident memory of this process and its living descendants now, in megabytes."""
    return sum(_memory_mb("VmRSS", pid) for pid in [os.getpid(), *descendants()])


def _memory_mb(field: str, pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0
