"""Places for requests: so many at work, so many waiting, the others told when to come back.

Owns the counts. Never reads anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from moonpress.errors import EngineBusy


class Places:
    """First come, first served.

    Args:
        working: Requests at work at once.
        waiting: Requests that may wait.
    """

    def __init__(self, working: int, waiting: int) -> None:
        self._semaphore = anyio.Semaphore(working)
        self._most_waiting = waiting
        self.working = 0
        self.waiting = 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a place and hold it while the body runs.

        Raises:
            EngineBusy: too many wait already.
        """
        if self.waiting >= self._most_waiting and self._semaphore.value == 0:
            raise EngineBusy(
                f"{self.waiting} requests wait already",
                retry_after=5.0,
                hint="Try again later",
            )
        self.waiting += 1
        try:
            await self._semaphore.acquire()
        finally:
            self.waiting -= 1
        self.working += 1
        try:
            yield
        finally:
            self.working -= 1
            self._semaphore.release()
