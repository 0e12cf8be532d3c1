"""Memory of process trees, and what is left of this machine's.

Owns reading the system's figures; ``None`` where it has none (only Linux has). Never judges them.
"""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")
_COUNTED = ("RssAnon:", "RssShmem:")
_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_GROUP_USE = Path("/sys/fs/cgroup/memory.current")


def tree_bytes(root: int) -> int | None:
    """What a process and all its descendants hold in memory of their own or share by intent.

    Pages of mapped files are left out: weights are mapped, and the kernel takes those pages back
    whenever it wants.
    """
    children: dict[int, list[int]] = {}
    try:
        numbers = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()]
    except OSError:
        return None
    for number in numbers:
        try:
            text = (_PROC / str(number) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # The name of the program stands in brackets and may hold anything.
        children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(number)
    total, open_ends = 0, [root]
    while open_ends:
        number = open_ends.pop()
        total += _own_bytes(number)
        open_ends += children.get(number, [])
    return total


def _own_bytes(number: int) -> int:
    try:
        lines = (_PROC / str(number) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(_COUNTED))


def available_bytes() -> int | None:
    """What processes may still take, by the machine and by the container around us."""
    try:
        lines = (_PROC / "meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(one.split()[1]) << 10 for one in lines if one.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None
    try:
        limit = _GROUP_LIMIT.read_text(encoding="ascii").strip()
        used = int(_GROUP_USE.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, max(int(limit) - used, 0))
