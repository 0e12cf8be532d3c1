"""Several replicas of an engine as one.

Owns the choice among them, taking those out that fail, and reading a page elsewhere when a replica
went away. Never retries in time: see `moonpress.engines.retrying`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from moonpress.document import PageImage, PageReading
from moonpress.engines.base import Engine, prepare
from moonpress.errors import BadOutput, EngineBusy, EngineError, EngineUnavailable, MoonpressError
from moonpress.telemetry import event

_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 30.0


@dataclass(slots=True, eq=False)
class _Replica:
    """An engine, how much it has to do, and whether it can be used."""

    engine: Engine
    in_flight: int = 0
    pause: float = 0.0
    back_at: float = 0.0
    looking: anyio.Lock = field(default_factory=anyio.Lock)
    looks: int = 0
    error: MoonpressError | None = None

    def eject(self, now: float) -> None:
        self.pause = min(max(2 * self.pause, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.back_at = now + self.pause


class ReplicaPool:
    """Reads pages with whichever replica has least to do.

    A replica that cannot be reached is left out for a while and looked at before it gets a page
    again. A page that it was reading is read by another one. A page that a replica refuses is
    refused; one on which a healthy replica fails is given to one other, and no more.

    Args:
        replicas: Engines that read alike; they are closed with this. At least one.
        clock: Seconds that never go back.
    """

    def __init__(
        self, replicas: Sequence[Engine], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._replicas = [_Replica(engine) for engine in replicas]
        self._clock = clock
        self.name = replicas[0].name
        self.capacity = sum(engine.capacity for engine in replicas)
        self.preferred_dpi: float | None = getattr(replicas[0], "preferred_dpi", None)

    async def prepare(self) -> None:
        """Look at all replicas; those that fail are left out.

        Raises:
            EngineUnavailable: none can be used.
            UnknownName: none has the model that was asked for.
        """
        errors: list[MoonpressError] = []

        async def look(replica: _Replica) -> None:
            try:
                await self._probe(replica)
            except MoonpressError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            for replica in self._replicas:
                tasks.start_soon(look, replica)
        if len(errors) == len(self._replicas):
            raise _all_of(errors)

    async def _probe(self, replica: _Replica) -> None:
        try:
            await prepare(replica.engine)
        except MoonpressError as error:
            replica.eject(self._clock())
            replica.looks, replica.error = replica.looks + 1, error
            event("replica_out", error=None, reason=error.message, seconds=replica.pause)
            raise
        replica.pause = replica.back_at = 0.0

    async def _look_again(self, replica: _Replica) -> None:
        """See whether a replica is back; pages that want to know at once share one look."""
        looks = replica.looks
        async with replica.looking:
            if replica.looks != looks and replica.error is not None:
                raise replica.error
            if replica.back_at:
                await self._probe(replica)

    async def read(self, image: PageImage) -> PageReading:
        """Read one page, somewhere.

        Raises:
            EngineUnavailable: no replica can be used.
            EngineRejected: the page is refused.
            BadOutput: two replicas failed on it, or the only one.
        """
        tried: list[_Replica] = []
        errors: list[EngineError] = []
        while (replica := self._choose(tried)) is not None:
            tried.append(replica)
            try:
                return await self._read(replica, image)
            except EngineUnavailable as error:
                errors.append(error)
            except BadOutput as error:
                if any(isinstance(other, BadOutput) for other in errors):
                    raise
                errors.append(error)
        raise _all_of(errors)

    async def _read(self, replica: _Replica, image: PageImage) -> PageReading:
        replica.in_flight += 1
        try:
            if replica.back_at:
                await self._look_again(replica)
            return await replica.engine.read(image)
        except EngineBusy:
            raise
        except EngineUnavailable as error:
            if not replica.back_at:
                replica.eject(self._clock())
                event("replica_out", reason=error.message, seconds=replica.pause)
            raise
        finally:
            replica.in_flight -= 1

    def _choose(self, tried: list[_Replica]) -> _Replica | None:
        """The least busy of those in use, or else the one that is back soonest."""
        now = self._clock()
        free = [replica for replica in self._replicas if replica not in tried]
        usable = [replica for replica in free if replica.back_at <= now]
        if usable:
            return min(usable, key=lambda replica: replica.in_flight)
        return min(free, key=lambda replica: replica.back_at, default=None)

    async def aclose(self) -> None:
        """Close all replicas."""
        for replica in self._replicas:
            await replica.engine.aclose()


def _all_of(errors: Sequence[MoonpressError]) -> MoonpressError:
    """One error for several: the worst for the page, or all reasons why nobody can be reached."""
    for error in errors:
        if not isinstance(error, EngineUnavailable):
            return error
    busy = [error for error in errors if isinstance(error, EngineBusy)]
    if busy:
        return min(busy, key=lambda error: error.retry_after)
    if len({error.message for error in errors}) == 1:
        return errors[0]
    message = "; ".join(error.message for error in errors)
    return EngineUnavailable(message, hint=errors[0].hint)
