"""Drawing pages in worker processes that may crash or hang without taking anything along.

Owns opening a document in a worker, hard limits of time and memory per page, and going on with a
fresh worker when one died, hung, grew or has drawn many pages. Never draws itself: see
`moonpress.sources`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from moonpress.document import PageImage
from moonpress.errors import (
    InputCorrupt,
    InputTooLarge,
    MoonpressError,
    PageError,
    PageRangeError,
    PageTimeout,
    PageTooLarge,
    PageUnrenderable,
)
from moonpress.pipeline.render_pool import RenderLimits, RenderPool, RenderWorker
from moonpress.processes import WorkerDied, WorkerError, WorkerFailure, WorkerTimeout
from moonpress.sources.base import RenderRequest, SourceInfo
from moonpress.sources.input_check import check_input

__all__ = ["RenderLimits", "RenderPool", "RenderedDocument", "open_in_pool", "open_rendered"]

_OUT_OF_MEMORY = ("out of memory", "bad_alloc", "cannot allocate memory")
# What Linux does to a process when the machine has no memory left.
_SIGKILL = -9
# What PDFium does, without a word, when it gets no memory.
_SIGABRT = -6


@asynccontextmanager
async def open_rendered(
    source: str | Path | bytes, *, name: str, password: str | None, limits: RenderLimits
) -> AsyncIterator[RenderedDocument]:
    """Open one document in a worker process and end the process afterwards.

    Who reads many documents saves the start of a process for each with `open_in_pool`.

    Args:
        source: The file, or its bytes where there is no file.
        name: What the user calls it, for messages.
        password: Of an encrypted PDF.
        limits: What it may cost.

    Raises:
        InputError: the file is missing, not a file, empty, of an unknown kind, encrypted, or
            damaged so much that it cannot be opened (also when opening crashes or hangs).
    """
    async with (
        RenderPool(limits, idle=0) as pool,
        open_in_pool(pool, source, name=name, password=password) as document,
    ):
        yield document


@asynccontextmanager
async def open_in_pool(
    pool: RenderPool, source: str | Path | bytes, *, name: str, password: str | None
) -> AsyncIterator[RenderedDocument]:
    """Open a document in a worker of a pool and give the worker back; see `open_rendered`."""
    if isinstance(source, str):
        source = Path(source)
    await anyio.to_thread.run_sync(check_input, source, name)
    document = RenderedDocument(pool, source, name=name, password=password)
    try:
        await document.open()
        yield document
    finally:
        await document.aclose()


class RenderedDocument:
    """A document that is open in a worker process; made by `open_rendered` or `open_in_pool`."""

    def __init__(
        self, pool: RenderPool, source: Path | bytes, *, name: str, password: str | None
    ) -> None:
        self._pool = pool
        self._limits = pool.limits
        self._source = source
        self._name = name
        self._password = password
        self._lock = anyio.Lock()
        self._worker: RenderWorker | None = None
        self._info: SourceInfo | None = None

    @property
    def info(self) -> SourceInfo:
        """What is known of the file."""
        if self._info is None:
            raise RuntimeError("the document is not open")
        return self._info

    @property
    def worker_pid(self) -> int | None:
        """Process id of the present worker, for logs; ``None`` between two."""
        return None if self._worker is None else self._worker.process.pid

    async def open(self) -> None:
        """Open the file for the first time.

        Raises:
            InputError: as `open_rendered` says.
        """
        try:
            await self._ready_worker()
        except WorkerTimeout as failure:
            limit = self._limits.open_timeout
            message = f"opening it takes longer than {limit:g} s"
            raise InputCorrupt(message, file=self._name) from failure
        except WorkerFailure as failure:
            if _out_of_memory(failure):
                message = f"opening it takes more than {_mib(self._limits.memory)} of memory"
                raise InputTooLarge(message, file=self._name) from failure
            message = f"the reader crashed when opening it ({_cause(failure)})"
            raise InputCorrupt(message, file=self._name) from failure

    async def page(self, number: int, request: RenderRequest) -> PageImage:
        """Draw one page; calls that overlap are served one after the other.

        Args:
            number: Counted from 1.
            request: How to draw it.

        Raises:
            PageRangeError: the document has no such page.
            PageTimeout: drawing took longer than ``limits.page_timeout``.
            PageTooLarge: drawing needs more memory or pixels than allowed.
            PageUnrenderable: the page is damaged, or drawing it crashed the worker.
        """
        count = self.info.page_count
        if not 1 <= number <= count:
            raise PageRangeError(f"there is no page {number} of {count}", file=self._name)
        async with self._lock:
            try:
                return await self._draw(number, request)
            except WorkerFailure as failure:
                raise self._page_error(failure, number) from failure
            except MoonpressError as error:
                raise self._on_page(error, number) from error

    async def _draw(self, number: int, request: RenderRequest) -> PageImage:
        worker = await self._ready_worker()
        timeout = self._limits.page_timeout
        try:
            answer = await worker.process.call("page", number, request, timeout=timeout)
        except WorkerFailure as failure:
            await self._end_worker()
            if isinstance(failure, WorkerTimeout) or worker.is_new:
                raise
            # Earlier pages may have spoilt the worker: a new one decides.
            return await self._draw(number, request)
        image: PageImage = answer[0]
        worker.pages_drawn += 1
        grown = answer[1] - worker.resident_at_open > self._limits.growth
        if grown or worker.pages_drawn >= self._limits.pages_per_worker:
            await self._end_worker()
        return image

    async def aclose(self) -> None:
        """Give the worker back to its pool."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await self._pool.give_back(worker)

    async def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await self._pool.discard(worker)

    async def _ready_worker(self) -> RenderWorker:
        """The worker with the file open in it; a new one when the last is gone."""
        if self._worker is not None and self._worker.process.alive:
            return self._worker
        await self._end_worker()
        worker = await self._new_worker()
        known = None if self._info is None else self._info.sha256
        arguments = (self._source, self._name, self._password, known)
        try:
            self._info, worker.resident_at_open = await worker.process.call(
                "open", *arguments, timeout=self._limits.open_timeout
            )
        except MoonpressError:
            await self._pool.give_back(worker)
            raise
        except WorkerDied:
            await self._pool.discard(worker)
            if worker.is_new:
                raise
            return await self._ready_worker()
        except BaseException:
            await self._pool.discard(worker)
            raise
        self._worker = worker
        return worker

    async def _new_worker(self) -> RenderWorker:
        try:
            return await self._pool.take()
        except WorkerFailure as failure:
            # Nothing is wrong with the file: Python itself does not come up here.
            message = f"no process for drawing pages could be started ({_cause(failure)})"
            raise MoonpressError(message, file=self._name) from failure

    def _page_error(self, failure: WorkerFailure, number: int) -> PageError:
        if isinstance(failure, WorkerTimeout):
            limit = self._limits.page_timeout
            message = f"drawing it takes longer than {limit:g} s"
            return PageTimeout(message, file=self._name, page=number)
        if _out_of_memory(failure):
            message = f"drawing it takes more than {_mib(self._limits.memory)} of memory"
            return PageTooLarge(message, file=self._name, page=number)
        message = f"the renderer crashed on it ({_cause(failure)})"
        return PageUnrenderable(message, file=self._name, page=number)

    def _on_page(self, error: MoonpressError, number: int) -> MoonpressError:
        """What the child raised, as an error of the page: the file may not open a second time."""
        if isinstance(error, PageError):
            return type(error)(error.message, file=self._name, page=number, hint=error.hint)
        message = f"the file could not be opened again: {error.message}"
        return PageUnrenderable(message, file=self._name, page=number, hint=error.hint)


def _out_of_memory(failure: WorkerFailure) -> bool:
    if isinstance(failure, WorkerError):
        return failure.kind == "MemoryError"
    if isinstance(failure, WorkerDied):
        said = failure.stderr_tail.lower()
        if failure.exit_code == _SIGKILL or any(mark in said for mark in _OUT_OF_MEMORY):
            return True
        return failure.exit_code == _SIGABRT and not said
    return False


def _cause(failure: WorkerFailure) -> str:
    """A few words for the user; the details stay in the chain of exceptions."""
    if isinstance(failure, WorkerDied) and failure.exit_code is not None:
        code = failure.exit_code
        return f"signal {-code}" if code < 0 else f"exit status {code}"
    return str(failure)


def _mib(size: int) -> str:
    return f"{size >> 20} MiB"
