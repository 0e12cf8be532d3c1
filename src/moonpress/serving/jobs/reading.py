"""One job, read: its pages drawn, read and kept, those excepted that were kept before.

Owns the flow of one job's pages. Never ends a job: see `moonpress.serving.jobs.runner`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectSendStream

from moonpress.document import Page, PageImage
from moonpress.errors import EngineBusy, EngineUnavailable, InputTooLarge, NoSpace, PageError
from moonpress.outputs.figures import FigureCrops
from moonpress.pipeline.page_request import request_for
from moonpress.pipeline.read_page import failed_page, read_page
from moonpress.pipeline.render import RenderedDocument, open_in_pool
from moonpress.serving.jobs.job import Job
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.service import Service
from moonpress.sources.page_range import select_pages
from moonpress.telemetry import bound, event

_LOOK_SECONDS: Final = 0.25
# The engine says that it is there, and yet refuses this page: it is the page that kills it.
_REFUSALS: Final = 4
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 4.0
_ROOM_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Desk:
    """What the jobs of a service share.

    Attributes:
        service: Whose engine reads.
        store: Where pages are kept.
        places: For pages of jobs in the engine.
        stopping: Whether no page is to be begun any more.
        page_out: Told when a page of a job was kept.
    """

    service: Service
    store: JobStore
    places: anyio.CapacityLimiter
    stopping: Callable[[], bool]
    page_out: Callable[[Job], None]


async def read_job(job: Job, desk: Desk) -> bool:
    """Read what of a job is not read yet.

    Returns:
        Whether all of its pages are out.

    Raises:
        InputError: the file cannot be read at all, or has too many pages.
        PageRangeError: it lacks pages that were selected.
        OutputError: pages cannot be kept.
    """
    request = job.request
    upload = desk.store.upload(job)
    with bound(job=job.id):
        async with open_in_pool(
            desk.service.render_pool, upload, name=request.name, password=request.password
        ) as rendered:
            numbers = select_pages(request.pages, rendered.info.page_count)
            if len(numbers) > desk.service.limits.pages:
                raise InputTooLarge(
                    f"{len(numbers)} pages are more than the {desk.service.limits.pages} of a job",
                    file=request.name,
                    hint="Select some with pages",
                )
            engine = desk.service.engine
            kept = await anyio.to_thread.run_sync(
                desk.store.opened, job, rendered.info, len(numbers), engine.name
            )
            left = [(at, number) for at, number in enumerate(numbers) if at not in kept]
            crops = None
            if request.figures:
                folder = await anyio.to_thread.run_sync(desk.store.figures, job)
                crops = FigureCrops(folder, durable=True)
            return await _Pages(job, desk, rendered, crops).read_all(left)


@dataclass(frozen=True, slots=True)
class _Drawn:
    position: int
    image: PageImage


@dataclass(frozen=True, slots=True)
class _Pages:
    job: Job
    desk: Desk
    rendered: RenderedDocument
    crops: FigureCrops | None

    async def read_all(self, left: list[tuple[int, int]]) -> bool:
        send, receive = anyio.create_memory_object_stream[_Drawn](0)
        out: list[int] = []
        async with anyio.create_task_group() as tasks, receive:
            tasks.start_soon(self._draw, left, send, out)
            async for drawn in receive:
                # Places come one by one and not with the job: an engine may grow while it runs.
                place = object()
                await self.desk.places.acquire_on_behalf_of(place)
                tasks.start_soon(self._read_in, place, drawn, out)
        return len(out) == len(left)

    async def _draw(
        self, left: list[tuple[int, int]], send: MemoryObjectSendStream[_Drawn], out: list[int]
    ) -> None:
        service = self.desk.service
        async with send:
            for position, number in left:
                if self.desk.stopping():
                    return
                request = request_for(
                    service.engine, dpi=self.job.request.dpi, max_image_width=None
                )
                try:
                    image = await self.rendered.page(number, request)
                except PageError as error:
                    await self._keep(position, failed_page(number, error, None), out)
                else:
                    await send.send(_Drawn(position, image))

    async def _read_in(self, place: object, drawn: _Drawn, out: list[int]) -> None:
        try:
            page = await self._read(drawn.image)
            if page is not None:
                await self._keep(drawn.position, page, out)
        finally:
            self.desk.places.release_on_behalf_of(place)

    async def _read(self, image: PageImage) -> Page | None:
        """The page; ``None`` when it is left to the next start of the service."""
        refusals, pause = 0, _FIRST_PAUSE
        while await self._engine_is_there():
            try:
                return await read_page(image, engine=self.desk.service.engine, crops=self.crops)
            except EngineBusy as error:
                await anyio.sleep(max(error.retry_after, _FIRST_PAUSE))
            except EngineUnavailable as error:
                # Only what an engine refuses that is there speaks against the page.
                refusals += await self.desk.service.look()
                if refusals >= _REFUSALS:
                    return failed_page(image.number, error, image)
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        return None

    async def _engine_is_there(self) -> bool:
        """Wait for the engine; ``False`` when the service ends."""
        while not self.desk.stopping():
            if self.desk.service.ready:
                return True
            await anyio.sleep(_LOOK_SECONDS)
        return False

    async def _keep(self, position: int, page: Page, out: list[int]) -> None:
        """Keep a page; one that the full disk does not take waits for room, and is read once."""
        kept = False
        while not kept:
            try:
                # A page that is read is kept, even when the service ends meanwhile.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(
                        self.desk.store.page_out, self.job, position, page
                    )
                kept = True
            except NoSpace as error:
                if self.desk.stopping():
                    return
                event("job_waits", level=logging.ERROR, error=error)
                await anyio.sleep(_ROOM_SECONDS)
        self.desk.service.metrics.page_done(page)
        out.append(position)
        self.desk.page_out(self.job)
