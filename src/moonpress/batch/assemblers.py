"""Worker processes for assembling documents, which runs of one process may hand on to each other.

Owns starting them and keeping them. To start one takes 0.8 CPU-seconds, as much as to draw twenty
pages. Never calls them: see `moonpress.batch.assembly`.
"""

from __future__ import annotations

from typing import Final

from moonpress.processes import WorkerProcess

_ASSEMBLER: Final = "moonpress.batch.assembler:Assembler"


class Assemblers:
    """Processes that hold an `Assembler` each.

    Args:
        kept: How many may wait for the next run.
    """

    def __init__(self, kept: int = 0) -> None:
        self._kept = kept
        self._idle: list[WorkerProcess] = []

    async def take(self) -> WorkerProcess:
        """A process whose assembler has to be told what it works for.

        Raises:
            WorkerFailure: none could be started.
        """
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            await worker.aclose()
        worker = WorkerProcess(_ASSEMBLER)
        try:
            await worker.start()
        except BaseException:
            await worker.aclose()
            raise
        return worker

    async def give_back(self, worker: WorkerProcess) -> None:
        """Keep a process that has nothing left to do, or end it."""
        if worker.alive and len(self._idle) < self._kept:
            self._idle.append(worker)
        else:
            await worker.aclose()

    async def aclose(self) -> None:
        """End those that wait."""
        while self._idle:
            await self._idle.pop().aclose()
