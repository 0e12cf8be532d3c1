"""A fleet of GPUs over weeks: papers come, replicas fail and start again, some are slow.

Owns the simulation, on SimPy. Never predicts the rate of a healthy replica: see
`moonpress.bench.plan`.

A replica reads papers one after the other at its rate, which is what its many pages at once come to
over a paper. When it fails, the paper is read again by whoever is free, but for the pages that were
done: they are kept, and a replica's pages in flight are lost.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from math import exp
from random import Random
from typing import Any, Final

import simpy

# Pages of papers are log-normal; so wide are those of arXiv.
_SIGMA: Final = 0.7
_HOUR: Final = 3600.0
# The mean of a log-normal lies above its median.
_MEAN_TO_MEDIAN: Final = exp(_SIGMA**2 / 2)


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong.

    Attributes:
        mtbf_hours: Between two failures of one replica, on average; failures have no memory.
        restart_minutes: Until a failed replica reads again.
        stragglers: Share of the replicas that are slow.
        straggler_speed: Their rate, as a share of that of the others.
    """

    mtbf_hours: float
    restart_minutes: float
    stragglers: float
    straggler_speed: float = 0.7


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is simulated.

    Attributes:
        replicas: How many.
        pages_per_second: Of one that is healthy.
        in_flight: Pages of one; lost when it fails.
        pages_per_paper: On average.
        faults: What goes wrong.
        seed: Of all chance.
    """

    replicas: int
    pages_per_second: float
    in_flight: int
    pages_per_paper: float
    faults: Faults
    seed: int


@dataclass(slots=True)
class Happened:
    """What happened in a simulation.

    Attributes:
        seconds: Until the last paper was done.
        papers: Done.
        pages: Of them.
        lost_pages: Read in vain.
        failures: Of replicas.
        busy_seconds: Of all replicas.
        waits: From a paper's coming to its end, in seconds.
    """

    seconds: float = 0.0
    papers: int = 0
    pages: float = 0.0
    lost_pages: float = 0.0
    failures: int = 0
    busy_seconds: float = 0.0
    waits: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Paper:
    came: float
    pages_left: float
    pages: float


@dataclass(slots=True)
class _World:
    fleet: Fleet
    chance: Random
    env: simpy.Environment
    queue: simpy.Store
    happened: Happened
    wanted: int
    done: simpy.Event

    def paper(self) -> _Paper:
        median = self.fleet.pages_per_paper / _MEAN_TO_MEDIAN
        pages = max(self.chance.lognormvariate(0, _SIGMA) * median, 1.0)
        return _Paper(self.env.now, pages, pages)

    def arrivals(self, per_second: float | None) -> Generator[simpy.Event, Any, None]:
        for _ in range(self.wanted):
            if per_second is not None:
                yield self.env.timeout(self.chance.expovariate(per_second))
            yield self.queue.put(self.paper())

    def replica(self, number: int) -> Generator[simpy.Event, Any, None]:
        fleet, faults = self.fleet, self.fleet.faults
        slow = number < round(faults.stragglers * fleet.replicas)
        rate = fleet.pages_per_second * (faults.straggler_speed if slow else 1.0)
        restart = faults.restart_minutes * 60
        fails_at = self._healthy_for()
        while True:
            paper = yield self.queue.get()
            if fails_at <= self.env.now:
                # It failed while it had nothing to do.
                self.happened.failures += 1
                yield self.env.timeout(max(fails_at + restart - self.env.now, 0))
                fails_at = self.env.now + self._healthy_for()
            seconds = paper.pages_left / rate
            if self.env.now + seconds < fails_at:
                yield self.env.timeout(seconds)
                self.happened.busy_seconds += seconds
                self._ended(paper)
                continue
            yield from self._fail(paper, rate, fails_at - self.env.now)
            yield self.env.timeout(restart)
            fails_at = self.env.now + self._healthy_for()

    def _fail(self, paper: _Paper, rate: float, after: float) -> Generator[simpy.Event, Any, None]:
        yield self.env.timeout(after)
        read = after * rate
        lost = min(read, self.fleet.in_flight)
        self.happened.failures += 1
        self.happened.lost_pages += lost
        self.happened.busy_seconds += after
        paper.pages_left -= read - lost
        self.env.process(self._again(paper))

    def _again(self, paper: _Paper) -> Generator[simpy.Event, Any, None]:
        # By itself: whoever fails must not wait for a place in the queue.
        yield self.queue.put(paper)

    def _healthy_for(self) -> float:
        return self.chance.expovariate(1 / (self.fleet.faults.mtbf_hours * _HOUR))

    def _ended(self, paper: _Paper) -> None:
        happened = self.happened
        happened.papers += 1
        happened.pages += paper.pages
        happened.waits.append(self.env.now - paper.came)
        happened.seconds = self.env.now
        if happened.papers == self.wanted and not self.done.triggered:
            self.done.succeed()


def simulate(fleet: Fleet, papers: int, *, per_year: float | None) -> Happened:
    """Simulate a fleet until it has read so many papers.

    Args:
        fleet: What reads.
        papers: How many.
        per_year: How many come in a year, at any time alike; ``None`` when all are there at once.
    """
    env = simpy.Environment()
    # A campaign comes as it is read; what comes by itself waits without bound.
    queue = simpy.Store(env) if per_year else simpy.Store(env, capacity=2 * fleet.replicas)
    chance = Random(fleet.seed)  # noqa: S311 - chance, and no secrets
    world = _World(fleet, chance, env, queue, Happened(), papers, env.event())
    env.process(world.arrivals(None if per_year is None else per_year / (365.25 * 24 * _HOUR)))
    for number in range(fleet.replicas):
        env.process(world.replica(number))
    env.run(until=world.done)
    return world.happened


def simulation_answer(fleet: Fleet, happened: Happened) -> dict[str, Any]:
    """What happened, ready for JSON."""
    waits = sorted(happened.waits)
    ideal = happened.pages / (fleet.replicas * fleet.pages_per_second)

    def hours_at(share: float) -> float:
        return round(waits[min(int(share * len(waits)), len(waits) - 1)] / _HOUR, 3)

    return {
        "papers": happened.papers,
        "pages": round(happened.pages),
        "days": round(happened.seconds / 86400, 3),
        "days_of_reading": round(ideal / 86400, 3),
        "busy": round(happened.busy_seconds / (fleet.replicas * happened.seconds), 4),
        "failures": happened.failures,
        "pages_read_twice": round(happened.lost_pages),
        "hours_from_arrival": {"p50": hours_at(0.5), "p95": hours_at(0.95), "p99": hours_at(0.99)},
    }
