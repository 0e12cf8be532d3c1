"""One page: from its picture to what is known of it, whatever happens on the way.

Owns the steps between an engine's answer and a finished `Page`, and failed pages. Never draws pages
and never decides how often one is tried.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import anyio.to_thread

from moonpress.document import (
    Block,
    LayoutReply,
    Page,
    PageImage,
    PageReading,
    PageStatus,
    Problem,
    ProblemCode,
    Usage,
)
from moonpress.engines.base import Engine
from moonpress.engines.following import Following, following
from moonpress.errors import EngineError, EngineRejected, EngineUnavailable, MoonpressError
from moonpress.pipeline.layout_reply import GrowingReply, with_blocks
from moonpress.pipeline.links import LinksAsWritten, attach_links
from moonpress.telemetry import event, span

BlockDone: TypeAlias = Callable[[Block, int], None]


class FigureSink(Protocol):
    """Who keeps the pictures of figures while their page is in memory."""

    def keep(self, image: PageImage, blocks: Sequence[Block], rotation: int) -> None:
        """Keep upright crops of those blocks that are pictures; called in a thread."""
        ...


async def read_page(
    image: PageImage,
    *,
    engine: Engine,
    crops: FigureSink | None,
    block_done: BlockDone | None = None,
) -> Page:
    """Read one page; what goes wrong with it is its status and its problems.

    Args:
        image: The page, drawn.
        engine: Who reads it.
        crops: Where figures go; ``None`` to keep none.
        block_done: Told of blocks while the engine writes the page, where it does so block by
            block, with the tokens written so far. They are the page's first blocks, just as they
            will be.

    Raises:
        EngineUnavailable: nobody is there to read it now.
        OutputError: a figure cannot be kept.
    """
    began = time.perf_counter()
    try:
        with span("engine", page=image.number, engine=engine.name):
            written = await _read(image, engine, block_done)
        reading = with_blocks(written, image.number)
    except EngineUnavailable:
        raise
    except EngineError as error:
        return failed_page(image.number, error, image)
    except Exception as error:  # noqa: BLE001 - an engine may be anybody's code
        event("engine_bug", level=logging.ERROR, error=error, page=image.number)
        bug = EngineRejected(f"the engine has a bug: {type(error).__name__}: {error}")
        return failed_page(image.number, bug, image)
    blocks = attach_links(reading.blocks, image)
    if crops is not None:
        await anyio.to_thread.run_sync(crops.keep, image, blocks, reading.rotation)
    usage = reading.usage
    if not usage.seconds:
        usage = replace(usage, seconds=time.perf_counter() - began)
    return Page(
        number=image.number,
        size=image.size,
        status=_status(reading, image),
        rotation=reading.rotation,
        blocks=blocks,
        problems=(*image.problems, *reading.problems),
        usage=replace(usage, engine=usage.engine or engine.name),
        agreement=reading.agreement,
    )


async def _read(image: PageImage, engine: Engine, block_done: BlockDone | None) -> PageReading:
    if block_done is None:
        return await engine.read(image)
    growing, links = GrowingReply(image.number), LinksAsWritten(image)

    def tell(reply: LayoutReply, tokens: int) -> None:
        for new in growing.grown(reply):
            block = links.attach(new)
            if block is not None:
                block_done(block, tokens)

    with following(Following(tell)):
        return await engine.read(image)


def failed_page(number: int, error: MoonpressError, image: PageImage | None) -> Page:
    """A page that could not be read, with its reason and remedy."""
    code = error.code
    if isinstance(error, EngineError):
        unavailable = isinstance(error, EngineUnavailable)
        code = ProblemCode.ENGINE_UNAVAILABLE if unavailable else ProblemCode.ENGINE_FAILED
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    return Page(
        number=number,
        size=None if image is None else image.size,
        status=PageStatus.FAILED,
        problems=(*(() if image is None else image.problems), Problem(code, message)),
        usage=Usage(),
    )


def _status(reading: PageReading, image: PageImage) -> PageStatus:
    """A picture of which the end is missing was read in part, however well the rest was."""
    truncated = any(p.code == ProblemCode.PICTURE_TRUNCATED for p in image.problems)
    return PageStatus.PARTIAL if truncated else reading.status
