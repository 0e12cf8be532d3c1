"""Waiting for an engine that is busy, or that went away and may come back.

Owns the waiting. Never changes the page and never looks at what was read.
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from moonpress.document import PageImage, PageReading
from moonpress.engines.base import Engine, preferred_dpi, prepare
from moonpress.errors import EngineBusy, EngineUnavailable
from moonpress.telemetry import event

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long to wait.

    Attributes:
        outage: Seconds that the engine may be away, for all pages together: when they are over,
            pages fail at once until one is read again.
        busy: Seconds that one page waits for an engine that has too much to do.
    """

    outage: float
    busy: float


class Retrying:
    """An engine that waits for another.

    Args:
        engine: Who reads; it is closed with this.
        waiting: How long.
        sleep: Waits for some seconds.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        engine: Engine,
        waiting: Waiting,
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._waiting = waiting
        self._sleep = sleep
        self._clock = clock
        self._away_since: float | None = None
        self._given_up = False
        self.name = engine.name

    @property
    def capacity(self) -> int:
        """Of the engine; that of a pool changes."""
        return self._engine.capacity

    @property
    def preferred_dpi(self) -> float | None:
        """Of the engine."""
        return preferred_dpi(self._engine)

    async def prepare(self) -> None:
        """See whether the engine can be used now; nothing is waited for at the start."""
        await prepare(self._engine)

    async def read(self, image: PageImage) -> PageReading:
        """Read one page, now or when the engine is back.

        Raises:
            EngineUnavailable: it did not come back, or stayed busy.
            EngineRejected: as the engine says.
            BadOutput: as the engine says.
        """
        wait = _FIRST_WAIT
        busy_until = self._clock() + self._waiting.busy
        away_until: float | None = None
        while True:
            try:
                reading = await self._engine.read(image)
            except EngineBusy as error:
                if self._clock() + error.retry_after > busy_until:
                    raise
                event("engine_busy", page=image.number, seconds=error.retry_after)
                # Pages that were refused together should not come back together.
                await self._sleep(error.retry_after * random.uniform(1.0, 1.5))  # noqa: S311
            except EngineUnavailable as error:
                # For the page as well: it may be what takes the engine down each time.
                away_until = away_until or self._clock() + self._waiting.outage
                if self._given_up or self._over() or self._clock() >= away_until:
                    raise
                event("engine_away", page=image.number, reason=error.message, seconds=wait)
                await self._sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                self._away_since = None
                return reading

    def _over(self) -> bool:
        """Whether the engine has been away for too long by now."""
        now = self._clock()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since >= self._waiting.outage

    def give_up(self) -> None:
        """Wait for the engine no more: it will not come back."""
        self._given_up = True

    async def aclose(self) -> None:
        """Close the engine."""
        await self._engine.aclose()
