"""Waiting for an engine that is gone: a run of a night outlives the restart of its servers.

Owns the wait and its limit. Never reads a page.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import anyio

from moonpress.batch.stop import Stop
from moonpress.engines.base import Engine, prepare
from moonpress.errors import EngineUnavailable
from moonpress.telemetry import event

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 15.0
_LOOK_SECONDS = 0.25


@dataclass(slots=True)
class Patience:
    """Lets all readers wait together until the engine is back.

    Attributes:
        engine: Whose absence is waited out.
        limit: Seconds after which the run gives up.
        stop: Whoever asks the run to stop does not want to wait.
        waiting: Whether it is being waited for now.
    """

    engine: Engine
    limit: float
    stop: Stop
    waiting: bool = False
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _returns: int = 0

    async def until_back(self, error: EngineUnavailable) -> bool:
        """Return as soon as the engine says that it can read, or somebody asks to stop.

        Args:
            error: What a page was refused with.

        Returns:
            Whether the engine is back.

        Raises:
            EngineUnavailable: it did not come back within the limit.
        """
        seen = self._returns
        async with self._turn:
            if self._returns != seen:
                return True
            self.waiting = True
            try:
                back = await self._probe(error)
            finally:
                self.waiting = False
            self._returns += int(back)
            return back

    async def _probe(self, error: EngineUnavailable) -> bool:
        event("engine_gone", level=logging.WARNING, engine=self.engine.name, reason=error.message)
        began = anyio.current_time()
        pause = _FIRST_WAIT
        while await self._pause(pause):
            try:
                await prepare(self.engine)
            except EngineUnavailable as still:
                if anyio.current_time() - began >= self.limit:
                    raise EngineUnavailable(
                        f"{still.message}; waited {self.limit:g} s for it",
                        hint="Start it again, then the same command: what was read is kept",
                    ) from still
                pause = min(pause * 2, _LONGEST_WAIT, max(self.limit, _FIRST_WAIT))
            else:
                waited = round(anyio.current_time() - began, 3)
                event("engine_back", engine=self.engine.name, seconds=waited)
                return True
        return False

    async def _pause(self, seconds: float) -> bool:
        """Wait; whether nobody asked to stop meanwhile."""
        ends = anyio.current_time() + seconds
        while (left := ends - anyio.current_time()) > 0:
            if self.stop.requested:
                return False
            await anyio.sleep(min(left, _LOOK_SECONDS))
        return not self.stop.requested
