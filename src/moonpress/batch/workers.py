"""The seam between a cluster run and the machines that do its work.

Owns the protocols. Never knows Ray: see `moonpress.batch.ray_run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from moonpress.batch.cluster_meter import Reading
from moonpress.batch.leases import Lease
from moonpress.batch.results import Result
from moonpress.batch.shard_work import Introduction, Outcome
from moonpress.batch.shards import Shard


class WorkerLost(Exception):
    """A worker, or its machine, is gone."""


@dataclass(frozen=True, slots=True)
class News:
    """What happened at a worker since it was last asked.

    Attributes:
        reading: Its meter.
        results: Documents that it has stored.
    """

    reading: Reading
    results: Sequence[Result]


class RemoteWorker(Protocol):
    """A worker on some machine; all methods raise `WorkerLost`."""

    @property
    def name(self) -> str:
        """Unique within the run."""
        ...

    async def introduce(self) -> Introduction:
        """Wait until it is ready.

        Raises:
            MoonpressError: it cannot do its work.
        """
        ...

    async def read(self, shard: Shard, lease: Lease, known: Sequence[Result]) -> Outcome:
        """See `moonpress.batch.shard_work.ShardWork.read`."""
        ...

    async def news(self) -> News:
        """What happened since the last call."""
        ...

    async def stop(self) -> None:
        """Ask it to finish what is in flight and begin nothing new."""
        ...

    async def end(self) -> None:
        """Let it go; never raises."""
        ...


class Cluster(Protocol):
    """Where workers come from."""

    async def hire(self) -> list[RemoteWorker]:
        """Start a worker on each machine that has none, and say who is new."""
        ...

    def lost(self, worker: RemoteWorker) -> None:
        """A worker is gone; its machine, if it is there still, may get another."""
        ...
