"""Several replicas of an engine as one.

Owns the choice among them, taking those out that fail, and reading a page elsewhere when a replica
went away. Never retries in time: see `moonpress.engines.retrying`. Knows no processes: whoever
starts replicas adds them here and removes them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import anyio

from moonpress.document import EncodedPicture, PageImage, PageReading
from moonpress.engines.base import Engine, preferred_dpi, prepare
from moonpress.errors import BadOutput, EngineBusy, EngineError, EngineUnavailable, MoonpressError
from moonpress.telemetry import event

_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 30.0
# Pages in a row on which a replica fails while another reads its pages: it is not the pages' fault.
_FAILURES = 5


class Standing(StrEnum):
    """What a replica is to the pool."""

    READY = "ready"
    SUSPECT = "suspect"
    OUT = "out"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A replica, seen from outside.

    Attributes:
        name: As it was added.
        standing: Whether it gets pages: only when there is no other if suspect, not before it was
            looked at if out, no more if draining.
        in_flight: Pages.
        bytes_in_flight: Of their pictures.
        failures: Pages in a row on which it failed though it said that it was well.
        reason: Why it is out or suspect; empty otherwise.
    """

    name: str
    standing: Standing
    in_flight: int
    bytes_in_flight: int
    failures: int
    reason: str


@dataclass(slots=True, eq=False)
class _Replica:
    """An engine, how much it has to do, and whether it can be used."""

    engine: Engine
    name: str
    in_flight: int = 0
    bytes_in_flight: int = 0
    failures: int = 0
    pause: float = 0.0
    back_at: float = 0.0
    suspect: bool = False
    leaving: bool = False
    turn: int = 0
    reason: str = ""
    loans: set[anyio.CancelScope] = field(default_factory=set)
    idle: anyio.Event = field(default_factory=anyio.Event)
    looking: anyio.Lock = field(default_factory=anyio.Lock)
    looks: int = 0
    error: MoonpressError | None = None

    def eject(self, now: float, reason: str) -> None:
        self.pause = min(max(2 * self.pause, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.back_at = now + self.pause
        self.reason = reason
        event("replica_out", replica=self.name, reason=reason, seconds=self.pause)

    def load(self) -> tuple[bool, int, int, int]:
        return self.suspect, self.in_flight, self.bytes_in_flight, self.turn

    def take(self, size: int) -> None:
        self.in_flight += 1
        self.bytes_in_flight += size

    def give_back(self, size: int) -> None:
        self.in_flight -= 1
        self.bytes_in_flight -= size
        if not self.in_flight:
            self.idle.set()

    def state(self) -> ReplicaState:
        standing = Standing.READY
        if self.leaving:
            standing = Standing.DRAINING
        elif self.back_at:
            standing = Standing.OUT
        elif self.suspect:
            standing = Standing.SUSPECT
        reason = "" if standing is Standing.READY else self.reason
        return ReplicaState(
            self.name, standing, self.in_flight, self.bytes_in_flight, self.failures, reason
        )


class ReplicaPool:
    """Reads pages with whichever replica has least to do.

    A replica that cannot be reached is left out for a while and looked at before it gets a page
    again. A page that it was reading is read by another one. A page that a replica refuses is
    refused; one on which a healthy replica fails is given to one other, and no more. Replicas may
    come and go at any time.

    Args:
        replicas: Engines that read alike; they are closed with this.
        name: Of the engine that this is; the first replica's when left out.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        replicas: Sequence[Engine],
        *,
        name: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._turns = 0
        self._replicas: list[_Replica] = []
        for number, engine in enumerate(replicas, 1):
            self.add(engine, f"{engine.name}-{number}")
        self.name = name or replicas[0].name

    @property
    def capacity(self) -> int:
        """Pages in flight over all replicas that stay; 0 when there is none."""
        return sum(one.engine.capacity for one in self._replicas if not one.leaving)

    @property
    def preferred_dpi(self) -> float | None:
        """Of the first replica; all are alike."""
        return preferred_dpi(self._replicas[0].engine) if self._replicas else None

    def add(self, engine: Engine, name: str) -> None:
        """Give pages to one more replica from now on.

        Args:
            engine: It is closed with this, unless it is removed before.
            name: In events and states.
        """
        self._replicas.append(_Replica(engine, name))

    async def remove(self, engine: Engine, *, seconds: float = 0.0, reason: str = "") -> None:
        """Give a replica no more pages, wait for those that it has, and forget it.

        Args:
            engine: It is not closed. One that is not here any more is left alone.
            seconds: How long to wait; what is not read then is read by others.
            reason: What those who read such a page are told, should there be no other.
        """
        replica = self._find(engine)
        if replica is None:
            return
        replica.leaving = True
        try:
            with anyio.move_on_after(seconds):
                while replica.in_flight:
                    replica.idle = anyio.Event()
                    await replica.idle.wait()
        finally:
            self._replicas.remove(replica)
            replica.reason = reason or f"{replica.name} was stopped"
            for scope in tuple(replica.loans):
                scope.cancel()

    def suspect(self, engine: Engine, reason: str) -> None:
        """Prefer others to a replica of which nothing was heard in time."""
        replica = self._find(engine)
        if replica is not None and not replica.suspect:
            replica.suspect, replica.reason = True, reason
            event("replica_suspect", replica=replica.name, reason=reason)

    def trust(self, engine: Engine) -> None:
        """Take suspicion back."""
        replica = self._find(engine)
        if replica is not None and replica.suspect:
            replica.suspect = False
            event("replica_trusted", replica=replica.name)

    def state(self, engine: Engine) -> ReplicaState | None:
        """Of one replica; ``None`` if it is not here."""
        replica = self._find(engine)
        return None if replica is None else replica.state()

    def states(self) -> tuple[ReplicaState, ...]:
        """Of all replicas, in the order in which they came."""
        return tuple(replica.state() for replica in self._replicas)

    @property
    def engines(self) -> tuple[Engine, ...]:
        """All replicas, in the order in which they came."""
        return tuple(replica.engine for replica in self._replicas)

    def _find(self, engine: Engine) -> _Replica | None:
        return next((one for one in self._replicas if one.engine is engine), None)

    async def prepare(self) -> None:
        """Look at all replicas; those that fail are left out.

        Raises:
            EngineUnavailable: none can be used.
            UnknownName: none has the model that was asked for.
        """
        errors: list[MoonpressError] = []
        replicas = [replica for replica in self._replicas if not replica.leaving]

        async def look(replica: _Replica) -> None:
            try:
                await self._probe(replica)
            except MoonpressError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            for replica in replicas:
                tasks.start_soon(look, replica)
        if len(errors) == len(replicas):
            raise _all_of(errors)

    async def _probe(self, replica: _Replica) -> None:
        try:
            await prepare(replica.engine)
        except MoonpressError as error:
            replica.eject(self._clock(), error.message)
            replica.looks, replica.error = replica.looks + 1, error
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
        picture = image.picture
        size = len(picture.data) if isinstance(picture, EncodedPicture) else picture.nbytes
        tried: list[Engine] = []
        errors: list[EngineError] = []
        while True:
            engine: Engine | None = None
            try:
                async with self.lend(size, tried) as engine:
                    tried.append(engine)
                    return await engine.read(image)
            except EngineUnavailable as error:
                if engine is None and errors:
                    raise _all_of(errors) from error
                errors.append(error)
                if engine is None:
                    raise
            except BadOutput as error:
                if any(isinstance(other, BadOutput) for other in errors):
                    raise
                errors.append(error)

    @asynccontextmanager
    async def lend(self, size: int, tried: Collection[Engine] = ()) -> AsyncIterator[Engine]:
        """The replica with least to do, which has one page more while the body runs.

        An `EngineUnavailable` raised in the body takes the replica out (`EngineBusy` does not);
        `BadOutput` does so when it is one of many and other replicas fare better.

        Args:
            size: Bytes of the page's picture.
            tried: Replicas that are out of the question.

        Raises:
            EngineUnavailable: none is left; or the replica was removed while the body ran, which is
                cancelled then.
            UnknownName: none has the model that was asked for.
        """
        replica = await self._take(size, tried)
        scope = anyio.CancelScope()
        replica.loans.add(scope)
        try:
            with scope:
                yield replica.engine
            if not scope.cancelled_caught:
                replica.failures = 0
        except EngineBusy:
            raise
        except EngineUnavailable as error:
            if not replica.back_at:
                replica.eject(self._clock(), error.message)
            raise
        except BadOutput as error:
            self._count_failure(replica, error)
            raise
        finally:
            replica.loans.discard(scope)
            replica.give_back(size)
        if scope.cancelled_caught:
            raise EngineUnavailable(replica.reason, hint="")

    async def _take(self, size: int, tried: Collection[Engine]) -> _Replica:
        """Choose a replica and count the page as its own; those that are out are looked at."""
        passed = list(tried)
        errors: list[MoonpressError] = []
        while (replica := self._choose(passed)) is not None:
            passed.append(replica.engine)
            replica.take(size)
            self._turns += 1
            replica.turn = self._turns
            taken = False
            try:
                if replica.back_at:
                    await self._look_again(replica)
                taken = True
            except MoonpressError as error:
                errors.append(error)
            finally:
                if not taken:
                    replica.give_back(size)
            if taken:
                return replica
        raise _all_of(errors)

    def _choose(self, tried: Collection[Engine]) -> _Replica | None:
        """The least busy of those in use, or else the one that is back soonest.

        Among equals it is the one that has waited longest, so that all are seen to work.
        """
        now = self._clock()
        passed = {id(engine) for engine in tried}
        free = [one for one in self._replicas if not one.leaving and id(one.engine) not in passed]
        usable = [replica for replica in free if replica.back_at <= now]
        if usable:
            return min(usable, key=_Replica.load)
        return min(free, key=lambda replica: replica.back_at, default=None)

    def _count_failure(self, replica: _Replica, error: BadOutput) -> None:
        replica.failures += 1
        others = (one for one in self._replicas if one is not replica and not one.leaving)
        better = any(not one.failures and not one.back_at for one in others)
        if replica.failures >= _FAILURES and better and not replica.back_at:
            reason = f"it failed on {replica.failures} pages in a row: {error.message}"
            replica.eject(self._clock(), reason)

    async def aclose(self) -> None:
        """Close all replicas."""
        for replica in self._replicas:
            await replica.engine.aclose()


def _all_of(errors: Sequence[MoonpressError]) -> MoonpressError:
    """One error for several: the worst for the page, or all reasons why nobody can be reached."""
    if not errors:
        return EngineUnavailable("no server that reads pages is left", hint="Try again later")
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
