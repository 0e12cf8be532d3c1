"""The embedded engine's front: pages go to worker processes that hold the models.

Owns the pool of workers: how many, when they are replaced, what their failures mean. Never touches
pixels or models itself; see `moonpress.engines.embedded.reader` for the work.
"""

from __future__ import annotations

import os
from typing import get_args

import anyio

from moonpress.document import PageImage, PageReading
from moonpress.engines.embedded.settings import EmbeddedSettings, OcrMode
from moonpress.engines.registry import EngineOptions
from moonpress.errors import EngineRejected, UnknownName
from moonpress.processes import WorkerDied, WorkerError, WorkerProcess, WorkerTimeout

_READER = "moonpress.engines.embedded.reader:PageReader"
# Native allocators grow a little with every odd page size; a fresh process is cheap beside that.
_PAGES_PER_WORKER = 300
# Two processes of one thread read more pages than one process of two threads.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
# onnxruntime tells Microsoft of its use unless it is told not to.
_WORKER_ENVIRONMENT = {**_ONE_THREAD, "ORT_DISABLE_TELEMETRY": "1"}
_DEFAULT_WORKERS_AT_MOST = 4
# A dense page takes seconds on a busy core; this is for pages that never end.
_READING_SECONDS = 120.0


def create(options: EngineOptions) -> EmbeddedEngine:
    """Make the engine from a user's options (the entry point's target)."""
    modes: dict[str, OcrMode] = {mode: mode for mode in get_args(OcrMode)}
    if options.ocr not in modes:
        raise UnknownName(
            f"no OCR mode is called {options.ocr!r}", hint=f"Choose among {', '.join(modes)}"
        )
    settings = EmbeddedSettings(
        fast=options.fast, languages=options.languages, ocr=modes[options.ocr]
    )
    workers = options.workers or min(os.cpu_count() or 1, _DEFAULT_WORKERS_AT_MOST)
    page_timeout = options.page_timeout or _READING_SECONDS
    return EmbeddedEngine(settings, workers=workers, page_timeout=page_timeout)


class EmbeddedEngine:
    """Reads pages on the CPU, one process and one thread for each page in flight.

    Args:
        settings: For the readers.
        workers: Processes at most; they start when pages come.
        page_timeout: Seconds after which a page is given up and its process killed.
    """

    name = "embedded"

    def __init__(self, settings: EmbeddedSettings, *, workers: int, page_timeout: float) -> None:
        self.capacity = workers
        self._settings = settings
        self._page_timeout = page_timeout
        self._slots = anyio.Semaphore(workers)
        self._idle: list[tuple[WorkerProcess, int]] = []

    async def read(self, image: PageImage) -> PageReading:
        """Read one page in a worker.

        Raises:
            EngineRejected: the page took too long, or crashed its worker twice.
        """
        async with self._slots:
            try:
                return await self._read_once(image)
            except WorkerDied:
                return await self._read_again(image)

    async def _read_again(self, image: PageImage) -> PageReading:
        """A worker may die for reasons of its own, such as the memory of earlier pages."""
        try:
            return await self._read_once(image)
        except WorkerDied as death:
            raise EngineRejected(
                f"the page crashed its reader (exit {death.exit_code})",
                page=image.number,
                hint="Lower --dpi, or leave the page out with --pages",
            ) from death

    async def _read_once(self, image: PageImage) -> PageReading:
        worker, pages = await self._take()
        try:
            reading: PageReading = await worker.call("read", image, timeout=self._page_timeout)
        except WorkerTimeout:
            raise EngineRejected(
                f"reading took longer than {self._page_timeout:g} s",
                page=image.number,
                hint="Raise --page-timeout, or leave the page out with --pages",
            ) from None
        except WorkerError as error:
            raise EngineRejected(f"the reader failed: {error}", page=image.number) from error
        finally:
            await self._give_back(worker, pages + 1)
        return reading

    async def _take(self) -> tuple[WorkerProcess, int]:
        if self._idle:
            return self._idle.pop()
        worker = WorkerProcess(_READER, {"settings": self._settings}, env=_WORKER_ENVIRONMENT)
        try:
            await worker.start()
        except BaseException:
            await worker.aclose()
            raise
        return worker, 0

    async def _give_back(self, worker: WorkerProcess, pages: int) -> None:
        if worker.alive and pages < _PAGES_PER_WORKER:
            self._idle.append((worker, pages))
        else:
            await worker.aclose()

    async def aclose(self) -> None:
        """End all workers."""
        while self._idle:
            worker, _ = self._idle.pop()
            await worker.aclose()
