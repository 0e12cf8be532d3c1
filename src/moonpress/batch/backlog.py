"""Shards that wait for a worker, and those that have to be read once more.

Owns the queue and when it is empty for good. Never knows what a worker is.
"""

from __future__ import annotations

from collections import deque

import anyio

from moonpress.batch.shards import Shard
from moonpress.batch.stop import Stop

_WAITING = 4


class Backlog:
    """Filled by one task, emptied by many.

    Args:
        stop: Nothing more is given out once it is requested.
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._waiting: deque[Shard] = deque()
        self._out = 0
        self._closed = False
        self._change = anyio.Condition()

    async def put(self, shard: Shard) -> None:
        """Add a shard; waits while enough others do."""
        async with self._change:
            while len(self._waiting) >= _WAITING and not self._stop.requested:
                await self._change.wait()
            self._waiting.append(shard)
            self._change.notify_all()

    async def close(self) -> None:
        """No other shard will be put."""
        async with self._change:
            self._closed = True
            self._change.notify_all()

    async def take(self) -> Shard | None:
        """The next shard, or ``None`` when all are finished or a stop was requested."""
        async with self._change:
            while not self._stop.requested:
                if self._waiting:
                    self._out += 1
                    self._change.notify_all()
                    return self._waiting.popleft()
                if self._closed and not self._out:
                    return None
                await self._change.wait()
            return None

    async def finish(self) -> None:
        """A shard that was taken needs nothing more."""
        async with self._change:
            self._out -= 1
            self._change.notify_all()

    async def give_back(self, shard: Shard, *, last: bool = False) -> None:
        """A shard that was taken has to be read by another, before all others or after them."""
        async with self._change:
            self._out -= 1
            if last:
                self._waiting.append(shard)
            else:
                self._waiting.appendleft(shard)
            self._change.notify_all()

    async def wake(self) -> None:
        """Let those who wait see that a stop was requested."""
        async with self._change:
            self._change.notify_all()

    async def until_finished(self) -> None:
        """Return when nothing waits and nothing is out, or a stop was requested and nothing is."""
        async with self._change:
            while self._out or not (self._stop.requested or (self._closed and not self._waiting)):
                await self._change.wait()
