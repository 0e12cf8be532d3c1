"""The counters of a cluster run: those of its workers, added up.

Owns the sum. Never asks workers: see `moonpress.batch.cluster_run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from moonpress.batch.meter import Busy, Meter
from moonpress.document import PageStatus

_BUSY = (
    "opening",
    "fetching",
    "drawing",
    "encoding",
    "offering",
    "reading",
    "sending",
    "writing",
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a worker's meter shows; the names are those of `Meter`."""

    selected: int
    to_read: int
    pages: int
    by_status: Mapping[PageStatus, int]
    output_tokens: int
    prompt_tokens: int
    in_flight: int
    busy: Mapping[str, tuple[int, float, int]]
    cores_busy: float | None


def reading_of(meter: Meter) -> Reading:
    """A meter, as it stands."""
    parts = {name: getattr(meter, name) for name in _BUSY}
    return Reading(
        selected=meter.selected,
        to_read=meter.to_read,
        pages=meter.pages,
        by_status=dict(meter.by_status),
        output_tokens=meter.output_tokens,
        prompt_tokens=meter.prompt_tokens,
        in_flight=meter.in_flight,
        busy={name: (part.tasks, part.seconds, part.times) for name, part in parts.items()},
        cores_busy=meter.cores_busy,
    )


@dataclass(slots=True)
class ClusterMeter(Meter):
    """Counts documents by itself, and shows the sum of its workers for what happens to pages."""

    _workers: dict[str, Reading] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)

    @property
    def cores_busy(self) -> float | None:
        """The mean of the workers' machines, 0 to 1."""
        known = [one.cores_busy for one in self._workers.values() if one.cores_busy is not None]
        return sum(known) / len(known) if known else None

    def update(self, worker: str, reading: Reading) -> None:
        """A worker's meter shows this now."""
        self._workers[worker] = reading
        shown = self._workers.values()
        self.selected = sum(one.selected for one in shown)
        self.to_read = sum(one.to_read for one in shown)
        self.output_tokens = sum(one.output_tokens for one in shown)
        self.prompt_tokens = sum(one.prompt_tokens for one in shown)
        self.in_flight = sum(
            r.in_flight for name, r in self._workers.items() if name not in self._gone
        )
        self.by_status = {}
        for one in shown:
            for status, count in one.by_status.items():
                self.by_status[status] = self.by_status.get(status, 0) + count
        for name in _BUSY:
            setattr(self, name, self._sum(name))
        pages = sum(one.pages for one in shown)
        if pages != self.pages:
            self.pages = pages
            self._extend_curve()

    def gone(self, worker: str) -> None:
        """A worker is there no more; what it did counts."""
        self._gone.add(worker)

    def _sum(self, name: str) -> Busy:
        """Places of workers that are gone do not count twice when others took their place."""
        total = Busy(0)
        for worker, one in self._workers.items():
            tasks, seconds, times = one.busy[name]
            total.tasks += 0 if worker in self._gone else tasks
            total.seconds += seconds
            total.times += times
        total.tasks = max(total.tasks, 1)
        return total
