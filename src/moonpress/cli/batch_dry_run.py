"""``chandra-batch --dry-run``: how much there is to read, and about what it will take.

Owns counting pages and the estimate. Never reads a page and writes nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from moonpress.batch.meter import Busy
from moonpress.batch.page_source import RenderedPages
from moonpress.cli.batch_progress import counted, duration
from moonpress.cli.errors import NOTHING_READ, SOME_PAGES_FAILED, describe
from moonpress.cli.interrupts import run_interruptible
from moonpress.cli.voice import Voice
from moonpress.errors import InputError, InputMissing, PageRangeError
from moonpress.pipeline.render import RenderLimits
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.page_range import select_pages

if TYPE_CHECKING:
    from moonpress.cli.batch_run import BatchCommand
    from moonpress.cli.batch_search import Search

# Stated with the estimate. On the CPU: papers with a text layer take 0.3 s of a core, scans 2;
# a server: what one H100 was reported to do for this model (1.44 pages a second).
_CORE_SECONDS = 1.0
_SERVER_PAGES_PER_SECOND = 1.44


@dataclass(slots=True)
class _Tally:
    documents: int = 0
    pages: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list)


def dry_run(search: Search, command: BatchCommand, voice: Voice) -> int:
    """Open every document, count its pages, and estimate.

    Returns:
        The exit code that the run would have for what cannot be opened.

    Raises:
        InputMissing: there are no documents.
    """
    tally = _Tally()
    run_interruptible(lambda: _count_all(search, command, tally))
    for line in tally.problems:
        voice.say(f"error: {line}")
    if not tally.documents and not tally.failed:
        raise InputMissing("there are no documents among the inputs", hint="Check the paths")
    documents, pages = counted(tally.documents, "document"), counted(tally.pages, "page")
    sys.stdout.write(f"{documents}, {pages}\n")
    for line in _estimate(command, tally.pages):
        sys.stdout.write(f"{line}\n")
    if not tally.documents:
        return NOTHING_READ
    return SOME_PAGES_FAILED if tally.failed else 0


def _estimate(command: BatchCommand, pages: int) -> Iterator[str]:
    """Time and cost at stated rates: nobody knows the pages before they are read."""
    urls = command.reading.urls
    if urls:
        rate = _SERVER_PAGES_PER_SECOND * len(urls)
        basis = f"{_SERVER_PAGES_PER_SECOND} pages/s for each of {len(urls)} servers"
    else:
        cores = command.reading.workers or os.cpu_count() or 1
        rate = cores / _CORE_SECONDS
        basis = f"{_CORE_SECONDS:g} s a page on each of {cores} cores"
    seconds = pages / rate
    yield f"About {duration(seconds)} at {basis}"
    if command.price_per_hour is not None:
        cost = seconds / 3600 * command.price_per_hour
        yield f"About {cost:,.2f} at {command.price_per_hour:g} an hour"


async def _count_all(search: Search, command: BatchCommand, tally: _Tally) -> None:
    places = os.cpu_count() or 1
    source = RenderedPages(
        places=places, limits=RenderLimits(), opener=search.opener, password=command.password
    )
    items = islice(search.items(), command.limit)
    send, receive = anyio.create_memory_object_stream[InputItem](places)

    async def count() -> None:
        async with receive.clone() as mine:
            async for item in mine:
                await _count_one(source, item, command.pages, tally)

    try:
        async with anyio.create_task_group() as tasks, receive:
            for _ in range(places):
                tasks.start_soon(count)
            async with send:
                while (one := await anyio.to_thread.run_sync(next, items, None)) is not None:
                    if isinstance(one, InputProblem):
                        tally.failed += 1
                        tally.problems.append(describe(one.error))
                    else:
                        await send.send(one)
    finally:
        with anyio.CancelScope(shield=True):
            await source.aclose()


async def _count_one(
    source: RenderedPages, item: InputItem, pages: str | None, tally: _Tally
) -> None:
    try:
        async with source.open(item, Busy()) as document:
            numbers = select_pages(item.pages or pages, document.info.page_count, clamp=True)
    except (InputError, PageRangeError) as error:
        tally.failed += 1
        tally.problems.append(describe(error))
    else:
        tally.documents += 1
        tally.pages += len(numbers)
