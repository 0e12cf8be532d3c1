"""Worker processes for drawing pages, and what they may cost.

Owns starting them, keeping them warm between documents, and judging which are worn. Never opens a
document: see `moonpress.pipeline.render`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import anyio

from moonpress.errors import MoonpressError
from moonpress.processes import WorkerFailure, WorkerProcess

_HOST = "moonpress.sources.host:SourceHost"
_CLOSE_TIMEOUT = 5.0
# Workers are many and small; a thread pool in each would fight over the cores.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What drawing one document may cost this machine.

    Attributes:
        open_timeout: Seconds that opening the file may take.
        page_timeout: Seconds that drawing one page may take.
        memory: Bytes of address space that a worker may add to what it starts with (Linux).
        pages_per_worker: A worker is replaced after so many pages, so that what libraries leak
            does not add up.
        growth: A worker is replaced when its resident memory has grown by so many bytes since
            it opened the document.
    """

    open_timeout: float = 25.0
    page_timeout: float = 25.0
    memory: int = 3 << 30
    pages_per_worker: int = 200
    growth: int = 400 << 20


@dataclass(slots=True)
class RenderWorker:
    """A child process with what wears it out; ``resident_*`` in bytes."""

    process: WorkerProcess
    resident_at_start: int
    resident_at_open: int = 0
    pages_drawn: int = 0

    @property
    def is_new(self) -> bool:
        """Whether nothing that it did before can be the cause of a failure."""
        return self.pages_drawn == 0


class RenderPool:
    """Workers that are kept warm between documents; each serves one document at a time.

    Args:
        limits: What each document may cost.
        idle: How many workers are kept when no document needs them.
        most: How many there may be at once, others wait; ``None`` for as many as are asked for.
    """

    def __init__(self, limits: RenderLimits, *, idle: int, most: int | None = None) -> None:
        self.limits = limits
        self._most_idle = idle
        self._idle: list[RenderWorker] = []
        self._places = None if most is None else anyio.Semaphore(most)

    async def __aenter__(self) -> Self:
        """Nothing is started before it is needed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the idle workers."""
        await self.aclose()

    async def take(self) -> RenderWorker:
        """A worker with no file open in it; it is given back or discarded by who took it.

        Raises:
            WorkerFailure: none could be started.
        """
        if self._places is not None:
            await self._places.acquire()
        try:
            return await self._free_or_new()
        except BaseException:
            self._free_place()
            raise

    async def _free_or_new(self) -> RenderWorker:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.alive:
                return worker
            await worker.process.aclose()
        process = WorkerProcess(_HOST, memory_limit=self.limits.memory, env=_ONE_THREAD)
        try:
            await process.start()
            return RenderWorker(process, resident_at_start=await process.call("close"))
        except BaseException:
            await process.aclose()
            raise

    async def give_back(self, worker: RenderWorker) -> None:
        """Keep a worker for the next document, or end it when it is worn or not needed."""
        with anyio.CancelScope(shield=True):
            if len(self._idle) < self._most_idle and await self._is_fresh(worker):
                self._idle.append(worker)
            else:
                await worker.process.aclose()
        self._free_place()

    async def discard(self, worker: RenderWorker) -> None:
        """End a worker that died, hung or is worn."""
        await worker.process.aclose()
        self._free_place()

    def _free_place(self) -> None:
        if self._places is not None:
            self._places.release()

    async def _is_fresh(self, worker: RenderWorker) -> bool:
        if not worker.process.alive or worker.pages_drawn >= self.limits.pages_per_worker:
            return False
        try:
            resident = await worker.process.call("close", timeout=_CLOSE_TIMEOUT)
        except (WorkerFailure, MoonpressError):
            return False
        return bool(resident - worker.resident_at_start <= self.limits.growth)

    async def aclose(self) -> None:
        """End the idle workers."""
        while self._idle:
            await self._idle.pop().process.aclose()
