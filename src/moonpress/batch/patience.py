"""Waiting for an engine that is gone: a run of a night outlives the restart of its servers.

Owns the wait and its limit. Never reads a page.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import anyio

from moonpress.engines.base import Engine, prepare
from moonpress.errors import EngineUnavailable
from moonpress.telemetry import event

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 15.0


@dataclass(slots=True)
class Patience:
    """Lets all readers wait together until the engine is back.

    Attributes:
        engine: Whose absence is waited out.
        limit: Seconds after which the run gives up.
        waiting: Whether it is being waited for now.
    """

    engine: Engine
    limit: float
    waiting: bool = False
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _returns: int = 0

    async def until_back(self, error: EngineUnavailable) -> None:
        """Return as soon as the engine says that it can read.

        Args:
            error: What a page was refused with.

        Raises:
            EngineUnavailable: it did not come back within the limit.
        """
        seen = self._returns
        async with self._turn:
            if self._returns != seen:
                return
            self.waiting = True
            try:
                await self._probe(error)
            finally:
                self.waiting = False
            self._returns += 1

    async def _probe(self, error: EngineUnavailable) -> None:
        event("engine_gone", level=logging.WARNING, engine=self.engine.name, reason=error.message)
        began = anyio.current_time()
        pause = _FIRST_WAIT
        while True:
            await anyio.sleep(pause)
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
                return
