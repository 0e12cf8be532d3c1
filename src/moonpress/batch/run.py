"""The tasks of a run: documents are opened, their pages drawn, read and kept, documents stored.

Owns the flow between bounded queues and how a run ends. Never knows what an engine, a renderer or a
sink is beyond its seam, never chooses one, and never prints.

    items → admit → [jobs] → open and draw → [pages] → read → ledger → [finished] → assemble, store
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from moonpress.batch.assembler import crops_folder
from moonpress.batch.assembly import Assembly
from moonpress.batch.entry import Entry, PageRecord, State
from moonpress.batch.job import DrawnPage, Job
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Meter
from moonpress.batch.page_source import OpenDocument, PageSource
from moonpress.batch.patience import Patience
from moonpress.batch.records import PageRecords
from moonpress.batch.stop import Stop
from moonpress.document import EncodedPicture, Page
from moonpress.engines.base import Engine
from moonpress.errors import (
    EngineUnavailable,
    InputError,
    MoonpressError,
    PageError,
    PageRangeError,
    UsageError,
    root_cause,
)
from moonpress.outputs.disk import output_errors
from moonpress.outputs.figures import FigureCrops
from moonpress.pipeline.read_page import failed_page, read_page
from moonpress.sources.base import RenderRequest
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.page_range import select_pages
from moonpress.telemetry import event

_ADMITTED_AT_ONCE = 64
_FINISHED_WAITING = 256
_PROBLEMS_KEPT = 1000
# The engine says that it is there, and yet refuses this page: it is the page that kills it.
_REFUSALS = 4


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run does with each document.

    Attributes:
        pages: Selection for documents that bring none of their own; ``None`` for all.
        choices: Digest of everything that outputs depend on, beside the documents themselves.
        request: How pages are drawn.
        figures: Whether crops of figures are kept.
        limit: Documents to read at most; ``None`` for all.
    """

    pages: str | None
    choices: str
    request: RenderRequest
    figures: bool
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The tasks of one run and what they share.

    Attributes:
        ledger: Its numbering of runs has begun.
        engine: Prepared; it is not closed.
        source: Where pages are drawn; it is not closed.
        assembly: Where documents are stored; it is not closed.
        patience: With the engine.
        settings: The caller's choices.
        meter: Counts what happens.
        stop: Looked at before each new page and document.
    """

    ledger: Ledger
    engine: Engine
    source: PageSource
    assembly: Assembly
    patience: Patience
    settings: RunSettings
    meter: Meter
    stop: Stop

    async def read_all(self, items: Iterator[InputItem | InputProblem]) -> list[InputProblem]:
        """Read what is not read yet, until all is done or a stop is asked for.

        Args:
            items: What was found; asked for in a thread, a few at a time.

        Returns:
            What could not even become a document; at most a thousand are kept.

        Raises:
            EngineUnavailable: the engine went away for longer than there is patience.
            NoSpace: the disk is full.
            OutputError: the ledger or the sink cannot be written.
        """
        return await _Flow(self, PageRecords(self.ledger)).read_all(items)


@dataclass(frozen=True, slots=True)
class _Outlets:
    """Where a task that draws pages sends them: to the readers, or past them."""

    pages: MemoryObjectSendStream[DrawnPage]
    finished: MemoryObjectSendStream[Job]


@dataclass(frozen=True, slots=True)
class _Place:
    """Which page: its document, its place in the selection, its number in the file."""

    job: Job
    position: int
    number: int


@dataclass(frozen=True, slots=True)
class _Flow:
    run: Run
    records: PageRecords

    async def read_all(self, items: Iterator[InputItem | InputProblem]) -> list[InputProblem]:
        problems: list[InputProblem] = []
        places = self.run.source.places
        capacity = self.run.engine.capacity
        self.run.meter.staff(places, capacity)
        send_job, jobs = anyio.create_memory_object_stream[Entry](places)
        send_page, pages = anyio.create_memory_object_stream[DrawnPage](places)
        send_finished, finished = anyio.create_memory_object_stream[Job](_FINISHED_WAITING)
        try:
            async with anyio.create_task_group() as flushing:
                flushing.start_soon(self.records.keep_flushing)
                async with anyio.create_task_group() as tasks, jobs, pages, finished:
                    tasks.start_soon(self._admit, items, send_job, send_finished, problems)
                    with send_page, send_finished.clone() as out:
                        for _ in range(places):
                            outlets = _Outlets(send_page.clone(), out.clone())
                            tasks.start_soon(self._draw_documents, jobs.clone(), outlets)
                        for _ in range(capacity):
                            tasks.start_soon(self._read_pages, pages.clone(), out.clone())
                    tasks.start_soon(self._store, finished.clone())
                flushing.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise root_cause(group) from group
        finally:
            with anyio.CancelScope(shield=True):
                await self.records.flush()
        await self.run.assembly.flush()
        return problems

    async def _admit(
        self,
        items: Iterator[InputItem | InputProblem],
        jobs: MemoryObjectSendStream[Entry],
        finished: MemoryObjectSendStream[Job],
        problems: list[InputProblem],
    ) -> None:
        """Ask for items, enter them in the ledger, and pass on what is not done."""
        settings, meter, ledger = self.run.settings, self.run.meter, self.run.ledger
        async with jobs, finished:
            while not self.run.stop.requested:
                left = _ADMITTED_AT_ONCE
                if settings.limit is not None:
                    left = min(left, settings.limit - meter.documents)
                found = await anyio.to_thread.run_sync(_next, items, left)
                if not found:
                    return
                documents = [one for one in found if isinstance(one, InputItem)]
                new = await anyio.to_thread.run_sync(ledger.admit, documents, settings.choices)
                bad = [one for one in found if isinstance(one, InputProblem)]
                self._note_problems([*bad, *map(clash, new.clashes)], problems)
                meter.note_replaced(new.replaced)
                meter.documents += len(new.entries)
                for entry in new.entries:
                    if entry.state in {State.DONE, State.FAILED}:
                        meter.kept += 1
                        meter.kept_failed += entry.state is State.FAILED
                    elif entry.state is State.READ:
                        await finished.send(Job(entry, None, 0))
                    else:
                        await jobs.send(entry)

    def _note_problems(self, found: list[InputProblem], problems: list[InputProblem]) -> None:
        for one in found:
            event("input_problem", level=logging.ERROR, error=one.error, input=one.name)
            self.run.meter.problems += 1
            if len(problems) < _PROBLEMS_KEPT:
                problems.append(one)

    async def _draw_documents(
        self, jobs: MemoryObjectReceiveStream[Entry], outlets: _Outlets
    ) -> None:
        async with jobs, outlets.pages, outlets.finished:
            async for entry in jobs:
                # Taken all the same: whoever sends documents must not wait for ever.
                if self.run.stop.requested:
                    continue
                try:
                    await self._draw_document(entry, outlets)
                except (InputError, PageRangeError) as error:
                    await self._document_failed(entry, error)

    async def _draw_document(self, entry: Entry, outlets: _Outlets) -> None:
        run = self.run
        async with _timed_open(run, entry.item) as document:
            selection = entry.item.pages or run.settings.pages
            numbers = select_pages(selection, document.info.page_count, clamp=True)
            kept = await anyio.to_thread.run_sync(
                run.ledger.opened, entry.key, document.info, len(numbers)
            )
            run.meter.selected += len(numbers)
            left = [(i, number) for i, number in enumerate(numbers) if i not in kept]
            run.meter.to_read += len(left)
            crops = await anyio.to_thread.run_sync(self._crops, entry.key)
            job = Job(entry, crops, len(left))
            if not left:
                await outlets.finished.send(job)
            for position, number in left:
                if run.stop.requested:
                    return
                page = _Place(job, position, number)
                await self._draw_page(document, page, outlets)

    async def _draw_page(self, document: OpenDocument, place: _Place, outlets: _Outlets) -> None:
        meter = self.run.meter
        try:
            with meter.drawing.working():
                image = await document.page(place.number, self.run.settings.request)
        except PageError as error:
            page = failed_page(place.number, error, None)
            await self._page_out(place.job, place.position, page, outlets.finished)
        else:
            if isinstance(image.picture, EncodedPicture):
                meter.encoding.add(image.picture.seconds)
            with meter.offering.working():
                await outlets.pages.send(DrawnPage(place.job, place.position, image))

    async def _read_pages(
        self,
        pages: MemoryObjectReceiveStream[DrawnPage],
        finished: MemoryObjectSendStream[Job],
    ) -> None:
        async with pages, finished:
            async for drawn in pages:
                page = await self._read_page(drawn)
                if page is not None:
                    await self._page_out(drawn.job, drawn.position, page, finished)

    async def _read_page(self, drawn: DrawnPage) -> Page | None:
        """The page; ``None`` when it is left to the next run: no engine, and no time to wait."""
        meter = self.run.meter
        for _ in range(_REFUSALS):
            meter.in_flight += 1
            try:
                with meter.reading.working():
                    return await read_page(
                        drawn.image, engine=self.run.engine, crops=drawn.job.crops
                    )
            except EngineUnavailable as error:
                refusal = error
            finally:
                meter.in_flight -= 1
            if not await self.run.patience.until_back(refusal):
                return None
        return failed_page(drawn.image.number, refusal, drawn.image)

    async def _page_out(
        self, job: Job, position: int, page: Page, finished: MemoryObjectSendStream[Job]
    ) -> None:
        event(
            "page_done",
            document=job.entry.item.id,
            page=page.number,
            status=page.status.value,
            seconds=round(page.usage.seconds, 3),
            attempts=page.usage.attempts,
        )
        self.run.meter.page_out(page)
        await self.records.add(PageRecord(job.entry.key, position, page))
        if job.page_out():
            await finished.send(job)

    async def _store(self, finished: MemoryObjectReceiveStream[Job]) -> None:
        async with finished:
            await self.run.assembly.prepare()
            async for job in finished:
                with self.run.meter.writing.working():
                    await self.records.flush()
                    entry = await anyio.to_thread.run_sync(self.run.ledger.read, job.entry.key)
                    if await self.run.assembly.finish(entry):
                        self.run.meter.document_out(entry)
                    else:
                        self.run.meter.failed += 1

    async def _document_failed(self, entry: Entry, error: MoonpressError) -> None:
        event("document_failed", level=logging.ERROR, document=entry.item.id, error=error)
        await anyio.to_thread.run_sync(self.run.ledger.fail, entry.key, error)
        self.run.meter.failed += 1

    def _crops(self, key: int) -> FigureCrops | None:
        if not self.run.settings.figures:
            return None
        folder = crops_folder(self.run.ledger.path, key)
        with output_errors(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
        return FigureCrops(folder, durable=True)


@asynccontextmanager
async def _timed_open(run: Run, item: InputItem) -> AsyncIterator[OpenDocument]:
    """Open a document; the meter counts how long that takes, not how long it stays open."""
    began = time.perf_counter()
    async with run.source.open(item, run.meter.fetching) as document:
        run.meter.opening.add(time.perf_counter() - began)
        yield document


def clash(item: InputItem) -> InputProblem:
    """The problem with a document whose id another has."""
    message = f"another document has its id, {item.id}"
    error = UsageError(message, file=item.name, hint='Give each an "id" of its own')
    return InputProblem(item.name, error)


def _next(items: Iterator[InputItem | InputProblem], most: int) -> list[InputItem | InputProblem]:
    return list(islice(items, most))
