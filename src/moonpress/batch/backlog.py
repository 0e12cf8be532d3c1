"""Shards that wait for a worker, those that another run reads, and those to be read once more.

Owns the queue and when it is empty for good. Never knows what a worker is, or who holds a shard.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import anyio

from moonpress.batch.shards import Shard
from moonpress.batch.stop import Stop

_WAITING: Final = 4
_HELD: Final = 256
_HELD_SECONDS: Final = 2.0


class Backlog:
    """Filled by one task, emptied by many.

    Args:
        stop: Nothing more is given out once it is requested.
        held_seconds: After how long a shard that another run holds is looked at again.
    """

    def __init__(self, stop: Stop, *, held_seconds: float = _HELD_SECONDS) -> None:
        self._stop = stop
        self._held_seconds = held_seconds
        self._waiting: deque[Shard] = deque()
        # Beside those that wait, or a run that comes second would never see past the shards of the
        # first. Each with when it is due, the earliest first.
        self._held: deque[tuple[float, Shard]] = deque()
        self._out = 0
        self._closed = False
        self._change = anyio.Condition()

    async def put(self, shard: Shard) -> None:
        """Add a shard; waits while enough others do."""
        async with self._change:
            while self._is_full and not self._stop.requested:
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
                shard = self._next()
                if shard is not None:
                    self._out += 1
                    self._change.notify_all()
                    return shard
                if self._is_done:
                    return None
                with anyio.move_on_after(self._until_due()):
                    await self._change.wait()
            return None

    async def finish(self) -> None:
        """A shard that was taken needs nothing more."""
        async with self._change:
            self._out -= 1
            self._change.notify_all()

    async def give_back(self, shard: Shard) -> None:
        """A shard that was taken has to be read by another, before all others."""
        async with self._change:
            self._out -= 1
            self._waiting.appendleft(shard)
            self._change.notify_all()

    async def set_aside(self, shard: Shard) -> None:
        """A shard that was taken is held by another run: it is looked at again later."""
        async with self._change:
            self._out -= 1
            self._held.append((anyio.current_time() + self._held_seconds, shard))
            self._change.notify_all()

    async def wake(self) -> None:
        """Let those who wait see that a stop was requested."""
        async with self._change:
            self._change.notify_all()

    async def until_finished(self) -> None:
        """Return when nothing waits and nothing is out, or a stop was requested and nothing is."""
        async with self._change:
            while not (self._is_done or (self._stop.requested and not self._out)):
                await self._change.wait()

    @property
    def _is_full(self) -> bool:
        return len(self._waiting) >= _WAITING or len(self._held) >= _HELD

    @property
    def _is_done(self) -> bool:
        return self._closed and not (self._waiting or self._held or self._out)

    def _next(self) -> Shard | None:
        if self._waiting:
            return self._waiting.popleft()
        if self._held and self._held[0][0] <= anyio.current_time():
            return self._held.popleft()[1]
        return None

    def _until_due(self) -> float | None:
        return self._held[0][0] - anyio.current_time() if self._held else None
