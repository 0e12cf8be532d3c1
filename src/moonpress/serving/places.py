"""Places for requests: so many at work, so many waiting, the others told when to come back.

Owns the counts. Never reads anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from moonpress.errors import EngineBusy


class Places:
    """First come, first served.

    Attributes:
        working: Requests at work.

    Args:
        most_working: Requests at work at once.
        most_waiting: Requests that may wait.
    """

    def __init__(self, most_working: int, most_waiting: int) -> None:
        self._most_working = most_working
        self._most_waiting = most_waiting
        self._queue: deque[anyio.Event] = deque()
        self.working = 0

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._queue)

    def resize(self, most_working: int) -> None:
        """Change how many may be at work; those that are stay."""
        self._most_working = most_working
        self._admit()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a place and hold it while the body runs.

        Raises:
            EngineBusy: too many wait already.
        """
        await self._take()
        try:
            yield
        finally:
            self._give_back()

    async def _take(self) -> None:
        if self.working < self._most_working and not self._queue:
            self.working += 1
            return
        if self.waiting >= self._most_waiting:
            raise EngineBusy(
                f"{self.waiting} requests wait already",
                retry_after=5.0,
                hint="Try again later",
            )
        turn = anyio.Event()
        self._queue.append(turn)
        arrived = False
        try:
            await turn.wait()
            arrived = True
        finally:
            if not arrived and turn.is_set():
                # The place came in the moment in which the request was given up.
                self._give_back()
            elif not arrived:
                self._queue.remove(turn)

    def _give_back(self) -> None:
        self.working -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self.working < self._most_working:
            self.working += 1
            self._queue.popleft().set()
