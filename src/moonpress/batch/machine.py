"""How busy this machine's cores are, whoever keeps them busy.

Owns reading the system's counters. Never judges them: see `moonpress.batch.bound`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_COUNTERS = Path("/proc/stat")


@dataclass(frozen=True, slots=True)
class CoreTime:
    """Core time since the machine started, in the system's ticks.

    Attributes:
        busy: Spent on anything.
        total: Spent or idle.
    """

    busy: int
    total: int

    def share_until(self, later: CoreTime) -> float:
        """How busy all cores together were between this reading and a later one, 0 to 1."""
        total = later.total - self.total
        return (later.busy - self.busy) / total if total > 0 else 0.0


def core_time() -> CoreTime | None:
    """The counters now; ``None`` where the system has none (only Linux has)."""
    try:
        fields = _COUNTERS.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    user, nice, system, idle, wait, *others = map(int, fields)
    busy = user + nice + system + sum(others)
    return CoreTime(busy, busy + idle + wait)
