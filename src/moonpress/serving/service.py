"""What every route of the service stands on: the engine, the render workers, the bounds.

Owns reading one document for one request. Never knows of HTTP.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from moonpress.document import Block, Document, Page
from moonpress.engines.base import Engine, prepare
from moonpress.engines.pool import ReplicaPool
from moonpress.errors import EngineUnavailable, InputTooLarge, MoonpressError
from moonpress.outputs.figures import FigureCrops
from moonpress.pipeline.convert import (
    BlockObserver,
    ConvertSettings,
    Observer,
    convert_document,
)
from moonpress.pipeline.render import RenderLimits, RenderPool
from moonpress.serving.fetch import Fetcher
from moonpress.serving.keys import Keys
from moonpress.serving.limits import ServiceLimits
from moonpress.serving.metrics import Metrics
from moonpress.serving.places import Places
from moonpress.serving.replica_metrics import ReplicaCollector
from moonpress.serving.replicas.report import ReplicaReport, State, report_of
from moonpress.serving.replicas.supervisor import Supervisor
from moonpress.serving.tracing import Tracing
from moonpress.telemetry import event, span

_LOOK_SECONDS = 2.0
# Asking one's own supervisor costs nothing.
_WATCHED_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Order:
    """What a request wants read.

    Attributes:
        data: The file.
        name: What the client calls it; never a path of this machine.
        pages: Selection; ``None`` for all.
        password: Of an encrypted PDF.
        dpi: Resolution; ``None`` for the engine's.
        figures: Whether pictures of figures are wanted.
    """

    data: bytes
    name: str
    pages: str | None = None
    password: str | None = None
    dpi: float | None = None
    figures: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A document that was read, with its figures while the body of `Service.reading` runs."""

    document: Document
    figures: dict[str, Path]


@dataclass(slots=True)
class Service:
    """One engine behind an API.

    Attributes:
        engine: Who reads; closed with the service.
        limits: Bounds.
        keys: Who may ask.
        metrics: Counters.
        ready: Whether the engine can read a page now.
        draining: Whether new requests are refused.
        supervisor: Of the servers that the service starts itself, if it does.
    """

    engine: Engine
    limits: ServiceLimits
    keys: Keys
    metrics: Metrics = field(default_factory=Metrics)
    ready: bool = False
    draining: bool = False
    supervisor: Supervisor | None = None
    tracing: Tracing = field(init=False)
    places: Places = field(init=False)
    fetcher: Fetcher = field(init=False)
    _pool: RenderPool = field(init=False)

    def __post_init__(self) -> None:
        workers = os.cpu_count() or 1
        self.tracing = Tracing(self.metrics)
        self.fetcher = Fetcher(self.limits)
        self._pool = RenderPool(RenderLimits(), idle=workers, most=2 * workers)
        self.metrics.registry.register(ReplicaCollector(self.replicas))
        # Until the engine is there nobody knows how much it takes.
        self.places = Places(1, self.limits.waiting)

    async def look_after(self) -> None:
        """Ask the engine now and then whether it can read, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS if self.supervisor is None else _WATCHED_SECONDS)

    async def look(self) -> bool:
        """See whether the engine can read now, for everybody who asks `ready`."""
        reason = await self._reason_against()
        if self.ready and reason is not None:
            event("engine_gone", engine=self.engine.name, reason=reason)
        elif not self.ready and reason is None:
            event("engine_ready", engine=self.engine.name, capacity=self.engine.capacity)
        self.ready = reason is None
        if self.ready:
            self.places.resize(max(self.engine.capacity, 1))
        return self.ready

    async def _reason_against(self) -> str | None:
        """Why the engine cannot read; ``None`` when it can."""
        if self.supervisor is not None and self.supervisor.serving:
            return None
        try:
            await prepare(self.engine)
        except MoonpressError as error:
            return error.message
        return None

    def replicas(self) -> tuple[ReplicaReport, ...]:
        """The servers behind the engine: those that the service starts, then the others."""
        own = () if self.supervisor is None else self.supervisor.reports()
        pool = getattr(self.engine, "pool", None)
        if not isinstance(pool, ReplicaPool):
            return own
        names = {one.name for one in own}
        return (*own, *(report_of(one) for one in pool.states() if one.name not in names))

    @property
    def degraded(self) -> bool:
        """Whether it runs and less than all of it can read."""
        whole = all(one.state is State.READY for one in self.replicas())
        return not (self.ready and whole)

    @asynccontextmanager
    async def reading(self, order: Order, observer: Observer) -> AsyncIterator[Reading]:
        """Read a document; its figures stay while the body runs.

        Raises:
            EngineUnavailable: the engine is not there, or too many wait.
            InputError: the file cannot be read at all, or has too many pages.
            UsageError: the order makes no sense.
        """
        if not self.ready:
            raise EngineUnavailable("the engine is not there yet", hint="Try again later")
        with tempfile.TemporaryDirectory(prefix="moonpress-") as folder:
            crops = FigureCrops(Path(folder)) if order.figures else None
            async with self.place():
                document = await convert_document(
                    order.data,
                    name=order.name,
                    engine=self.engine,
                    settings=ConvertSettings(
                        pages=order.pages, password=order.password, dpi=order.dpi
                    ),
                    observer=self._counting(observer),
                    crops=crops,
                    pool=self._pool,
                    look_first=False,
                )
            yield Reading(document, dict(crops.paths) if crops is not None else {})

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and hold it while the body runs; raises as `Places.taken`."""
        async with AsyncExitStack() as held:
            with span("queue"):
                await held.enter_async_context(self.places.taken())
            yield

    def _counting(self, observer: Observer) -> Observer:
        # Engines tell of blocks only where somebody wants to know.
        kind = _CountingBlocks if isinstance(observer, BlockObserver) else _Counting
        return kind(observer, self.limits.pages, self.metrics)

    @property
    def render_pool(self) -> RenderPool:
        """Where pages are drawn."""
        return self._pool

    async def aclose(self) -> None:
        """Close the engine and the render workers."""
        with anyio.CancelScope(shield=True):
            await self.engine.aclose()
            await self._pool.aclose()


@dataclass(frozen=True, slots=True)
class _Counting:
    """Passes on what is observed, counts it, and refuses documents that are too long."""

    inner: Observer
    most: int
    metrics: Metrics

    def started(self, source: str, page_count: int) -> None:
        """Refuse a document with too many pages before the first is drawn."""
        if page_count > self.most:
            raise InputTooLarge(
                f"{page_count} pages are more than the {self.most} of one request",
                file=source,
                hint="Select some with pages",
            )
        self.inner.started(source, page_count)

    def page_done(self, page: Page) -> None:
        """Count a page."""
        self.metrics.page_done(page)
        event(
            "page",
            page=page.number,
            status=page.status.value,
            problems=[problem.code for problem in page.problems],
            seconds=round(page.usage.seconds, 4),
            tokens=page.usage.output_tokens,
            attempts=page.usage.attempts,
        )
        self.inner.page_done(page)


@dataclass(frozen=True, slots=True)
class _CountingBlocks(_Counting):
    """The same for who wants to see blocks."""

    def block_done(self, number: int, block: Block, tokens: int) -> None:
        """Pass a block on."""
        if isinstance(self.inner, BlockObserver):
            self.inner.block_done(number, block, tokens)
