"""One document through the page pipeline: render, read, reassemble, document-level passes.

Owns the flow of one document's pages with bounded memory in between: at most one rendered page
waits while ``engine.capacity`` are read. Never writes outputs and never chooses an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from moonpress.document import (
    Block,
    Document,
    Page,
    PageImage,
)
from moonpress.engines.base import Engine, prepare
from moonpress.errors import (
    EngineUnavailable,
    PageError,
)
from moonpress.pipeline.finish import finish_document
from moonpress.pipeline.page_request import request_for
from moonpress.pipeline.read_page import BlockDone, FigureSink, failed_page, read_page
from moonpress.pipeline.render import (
    RenderedDocument,
    RenderLimits,
    RenderPool,
    open_in_pool,
    open_rendered,
)
from moonpress.sources.base import RenderRequest
from moonpress.sources.page_range import select_pages
from moonpress.telemetry import span

# Drawing takes a second at most, save for files made to never end: those are to fail within 30 s.
DRAWING_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ConvertSettings:
    """What a caller decides about one document.

    Attributes:
        pages: Selection such as ``"1-3,7,-1"`` (1-based); ``None`` for all.
        password: Of an encrypted PDF.
        dpi: Resolution at which PDF pages are drawn; ``None`` for the engine's.
        max_image_width: Bound of a page picture's width in pixels.
        page_timeout: Seconds that drawing one page may take.
    """

    pages: str | None = None
    password: str | None = None
    dpi: float | None = None
    max_image_width: int | None = None
    page_timeout: float = DRAWING_SECONDS


class Observer(Protocol):
    """Who watches the progress of a document."""

    def started(self, source: str, page_count: int) -> None:
        """Reading begins; ``page_count`` pages are selected."""
        ...

    def page_done(self, page: Page) -> None:
        """A page came out, read or failed; pages come in the order in which they finish."""
        ...


@runtime_checkable
class BlockObserver(Observer, Protocol):
    """Who wants to see a page while it is written, by engines that write block by block."""

    def block_done(self, number: int, block: Block, tokens: int) -> None:
        """The next block of a page is certain; `page_done` comes later.

        Args:
            number: Of the page.
            block: As it will be among the page's blocks, all of which before it were told of.
            tokens: Written for the page so far.
        """
        ...


class Quiet:
    """An observer that does nothing."""

    def started(self, source: str, page_count: int) -> None:
        """Do nothing."""

    def page_done(self, page: Page) -> None:
        """Do nothing."""


async def convert_document(
    source: Path | bytes,
    *,
    name: str,
    engine: Engine,
    settings: ConvertSettings,
    observer: Observer,
    crops: FigureSink | None,
    pool: RenderPool | None = None,
    look_first: bool = True,
) -> Document:
    """Read one document.

    A page that cannot be drawn or read comes out as a failed `Page` with its reason.

    Args:
        source: The file, or its bytes.
        name: What the user calls it, for messages.
        engine: Who reads the pages; it is not closed.
        settings: The caller's choices.
        observer: Told of every page.
        crops: Where figures go; ``None`` to keep none.
        pool: Render workers that stay for the next document; ``None`` starts one for this alone.
            The pool's limits hold then, in place of ``settings.page_timeout``.
        look_first: See whether the engine can read before the first page is drawn. Who looks after
            the engine all the time knows already, and a page waits for one that is just away.

    Raises:
        InputError: the file cannot be opened at all.
        PageRangeError: the selection names pages that the document lacks.
        EngineUnavailable: the engine says before the first page that it cannot read.
    """
    if pool is None:
        limits = RenderLimits(page_timeout=settings.page_timeout)
        opened = open_rendered(source, name=name, password=settings.password, limits=limits)
    else:
        opened = open_in_pool(pool, source, name=name, password=settings.password)
    async with opened as rendered:
        info = rendered.info
        numbers = select_pages(settings.pages, info.page_count)
        if look_first:
            await prepare(engine)
        request = request_for(engine, dpi=settings.dpi, max_image_width=settings.max_image_width)
        observer.started(name, len(numbers))
        run = _Run(rendered, request, engine, observer, crops)
        pages = await run.read_all(numbers)
    return finish_document(pages, info=info, name=name, engine_name=engine.name)


@dataclass(frozen=True, slots=True)
class _Run:
    """The tasks of one document and what they share."""

    rendered: RenderedDocument
    request: RenderRequest
    engine: Engine
    observer: Observer
    crops: FigureSink | None

    async def read_all(self, numbers: Sequence[int]) -> list[Page]:
        done: dict[int, Page] = {}
        send, receive = anyio.create_memory_object_stream[PageImage](0)
        async with anyio.create_task_group() as tasks, receive:
            tasks.start_soon(self._render, numbers, send, done)
            for _ in range(min(self.engine.capacity, len(numbers))):
                tasks.start_soon(self._read_pages, receive.clone(), done)
        return [done[number] for number in numbers]

    async def _render(
        self,
        numbers: Sequence[int],
        send: MemoryObjectSendStream[PageImage],
        done: dict[int, Page],
    ) -> None:
        async with send:
            for number in numbers:
                try:
                    with span("render", page=number):
                        image = await self.rendered.page(number, self.request)
                except PageError as error:
                    self._finish(failed_page(number, error, None), done)
                else:
                    await send.send(image)
            # The last pages may take minutes to read: others can draw meanwhile.
            await self.rendered.aclose()

    async def _read_pages(
        self, receive: MemoryObjectReceiveStream[PageImage], done: dict[int, Page]
    ) -> None:
        async with receive:
            async for image in receive:
                with span("page", page=image.number):
                    page = await self._read(image)
                self._finish(page, done)

    async def _read(self, image: PageImage) -> Page:
        try:
            return await read_page(
                image, engine=self.engine, crops=self.crops, block_done=self._follower(image.number)
            )
        except EngineUnavailable as error:
            return failed_page(image.number, error, image)

    def _follower(self, number: int) -> BlockDone | None:
        return (
            partial(self.observer.block_done, number)
            if isinstance(self.observer, BlockObserver)
            else None
        )

    def _finish(self, page: Page, done: dict[int, Page]) -> None:
        done[page.number] = page
        self.observer.page_done(page)
