"""A run from its request to its end: the parts are made, the run goes, the parts are closed.

Owns the order of making and closing. Never draws, reads or writes itself, and never prints.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from moonpress.batch.assemblers import Assemblers
from moonpress.batch.assembly import Assembly, sweep_crops
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Meter
from moonpress.batch.page_source import PageSource, RenderedPages
from moonpress.batch.patience import Patience
from moonpress.batch.request import BatchRequest
from moonpress.batch.run import Run, RunSettings
from moonpress.batch.stop import Stop
from moonpress.engines.base import Engine, prepare
from moonpress.pipeline.page_request import request_for
from moonpress.pipeline.render import RenderLimits
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.inputs.opening import Opener
from moonpress.telemetry import event

ENGINE_FACT = "engine"


async def run_batch(
    request: BatchRequest,
    *,
    ledger: Ledger,
    engine: Engine,
    opener: Opener,
    items: Iterator[InputItem | InputProblem],
    meter: Meter,
    stop: Stop,
    source: PageSource | None = None,
    assemblers: Assemblers | None = None,
) -> list[InputProblem]:
    """Read everything that the ledger does not have yet.

    Args:
        request: The caller's choices.
        ledger: Open; it is not closed.
        engine: Who reads; it is not closed.
        opener: Opens what was found.
        items: What was found.
        meter: Counts what happens.
        stop: To end the run early.
        source: Where pages are drawn, when several runs share that; it is not closed.
        assemblers: Where documents are assembled, likewise.

    Returns:
        What was found and could not even become a document; a thousand at most.

    Raises:
        EngineUnavailable: the engine is not there, or went away for longer than there is patience.
        NoSpace: the disk is full.
        OutputError: the ledger or the sink cannot be written.
    """
    await prepare(engine)
    await anyio.to_thread.run_sync(ledger.note, ENGINE_FACT, engine.name)
    number = await anyio.to_thread.run_sync(ledger.begin_run)
    await anyio.to_thread.run_sync(_again_what_found_no_engine, ledger)
    await anyio.to_thread.run_sync(sweep_crops, ledger)
    request_of_pages = request_for(
        engine, dpi=request.reading.dpi, max_image_width=request.reading.max_image_width
    )
    assembly = Assembly(ledger, request.sink, engine.name, assemblers)
    try:
        async with _rendering(request, engine, opener, source) as pages:
            run = Run(
                ledger=ledger,
                engine=engine,
                source=pages,
                assembly=assembly,
                patience=Patience(engine, request.patience, stop),
                settings=RunSettings(
                    pages=request.reading.pages,
                    choices=request.choices(engine.name),
                    request=request_of_pages,
                    figures=request.sink.keeps_figures,
                    limit=request.limit,
                ),
                meter=meter,
                stop=stop,
            )
            event("run_started", run=number, engine=engine.name, capacity=engine.capacity)
            return await run.read_all(items)
    finally:
        with anyio.CancelScope(shield=True):
            await assembly.aclose()


@asynccontextmanager
async def _rendering(
    request: BatchRequest, engine: Engine, opener: Opener, shared: PageSource | None
) -> AsyncIterator[PageSource]:
    if shared is not None:
        yield shared
        return
    source = page_source(request, engine, opener)
    try:
        yield source
    finally:
        with anyio.CancelScope(shield=True):
            await source.aclose()


def page_source(request: BatchRequest, engine: Engine, opener: Opener) -> RenderedPages:
    """Where a run draws its pages."""
    return RenderedPages(
        places=render_places(engine.capacity),
        limits=RenderLimits(page_timeout=request.page_timeout),
        opener=opener,
        password=request.password,
    )


def render_places(capacity: int) -> int:
    """Render workers for an engine: one a core, and no more than it takes to feed it.

    An engine of few places reads on this machine, and needs its cores itself.
    """
    return max(1, min(os.cpu_count() or 1, capacity // 2))


def _again_what_found_no_engine(ledger: Ledger) -> None:
    ledger.try_again(only_unavailable=True)
