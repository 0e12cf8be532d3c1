"""The public Python functions: one document in, a `Document` out.

Owns `convert` and `convert_async`. Never parses command lines and never prints.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.from_thread import start_blocking_portal

from moonpress.document import Document, RenderOptions
from moonpress.engines.base import Engine
from moonpress.engines.registry import EngineOptions, create_engine
from moonpress.outputs.figures import FigureCrops
from moonpress.outputs.targets import Targets, check_writable, resolve_targets
from moonpress.outputs.writer import write_document
from moonpress.pipeline.convert import (
    DRAWING_SECONDS,
    ConvertSettings,
    Observer,
    Quiet,
    convert_document,
)
from moonpress.settings import server_options

_BYTES_NAME = "document"


async def convert_async(
    source: str | Path | bytes,
    *,
    engine: str | Engine = "auto",
    pages: str | None = None,
    password: str | None = None,
    dpi: float | None = None,
    max_image_width: int | None = None,
    page_timeout: float | None = None,
    fast: bool = False,
    languages: Sequence[str] = (),
    ocr: str = "auto",
    workers: int | None = None,
    output: str | Path | None = None,
    formats: Sequence[str] = (),
    render_options: RenderOptions | None = None,
    observer: Observer | None = None,
) -> Document:
    """Read one PDF or picture; see `convert` for arguments and errors."""
    name = _BYTES_NAME if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else Path(source)
    settings = ConvertSettings(
        pages=pages,
        password=password,
        dpi=dpi,
        max_image_width=max_image_width,
        page_timeout=page_timeout or DRAWING_SECONDS,
    )
    targets = None if output is None else _writable_targets(name, output, formats)
    options = EngineOptions(
        workers=workers,
        page_timeout=page_timeout,
        fast=fast,
        languages=tuple(languages),
        ocr=ocr,
        server=server_options(),
    )
    async with _opened(engine, options) as reader:
        read = partial(
            convert_document,
            data,
            name=name,
            engine=reader,
            settings=settings,
            observer=observer or Quiet(),
        )
        if targets is None:
            return await read(crops=None)
        return await _read_and_write(read, targets, render_options or RenderOptions())


def _writable_targets(name: str, output: str | Path, formats: Sequence[str]) -> Targets:
    targets = resolve_targets(name, str(output), formats)
    check_writable(targets)
    return targets


@asynccontextmanager
async def _opened(engine: str | Engine, options: EngineOptions) -> AsyncIterator[Engine]:
    """The engine; one that was made here is closed afterwards."""
    if not isinstance(engine, str):
        yield engine
        return
    made = create_engine(engine, options)
    try:
        yield made
    finally:
        with anyio.CancelScope(shield=True):
            await made.aclose()


async def _read_and_write(
    read: Callable[..., Awaitable[Document]], targets: Targets, options: RenderOptions
) -> Document:
    with tempfile.TemporaryDirectory(prefix="moonpress-") as folder:
        crops = FigureCrops(Path(folder))
        document = await read(crops=crops)
        write_document(document, targets, crops, options)
        return document


def convert(
    source: str | Path | bytes,
    *,
    engine: str | Engine = "auto",
    pages: str | None = None,
    password: str | None = None,
    dpi: float | None = None,
    max_image_width: int | None = None,
    page_timeout: float | None = None,
    fast: bool = False,
    languages: Sequence[str] = (),
    ocr: str = "auto",
    workers: int | None = None,
    output: str | Path | None = None,
    formats: Sequence[str] = (),
    render_options: RenderOptions | None = None,
    observer: Observer | None = None,
) -> Document:
    """Read one PDF or picture.

    Works in scripts, notebooks and threads; inside a coroutine use `convert_async`.

    Args:
        source: Path of a PDF or picture, or its bytes.
        engine: Name of an engine, or an engine of your own, which is then left open. ``"auto"``
            takes the best that is there: a server that ``MOONPRESS_URL`` or the configuration file
            names, a Chandra server on this machine, or the embedded engine.
        pages: 1-based selection such as ``"1-3,7,-1"``; all pages when left out.
        password: Of an encrypted PDF.
        dpi: Resolution at which PDF pages are drawn; the engine's own when left out.
        max_image_width: Bound of a page picture's width in pixels.
        page_timeout: Seconds that drawing, and then reading, one page may take; 20 and the
            engine's own bound when left out.
        fast: Smaller recognition models: about three times faster on scans, less exact.
        languages: Tesseract names of languages whose scripts the built-in recogniser lacks.
        ocr: ``"auto"``, ``"always"`` (ignore text layers) or ``"never"`` (text layers only).
        workers: Pages read at once; by the machine's cores when left out.
        output: Also write files, as ``chandra-pdf --output`` does.
        formats: Which formats to write, when ``output`` is a folder.
        render_options: Choices for the written formats.
        observer: Told of every page as it is done.

    Returns:
        The document, with one page for every page selected: read, partly read, or failed with its
        reason.

    Raises:
        UsageError: the arguments make no sense, such as page 99 of 3.
        InputError: the file cannot be read at all.
        OutputError: ``output`` could not be written.
        EngineUnavailable: the engine says before the first page that it cannot read.

    Example:
        >>> from moonpress import convert
        >>> document = convert("tests/data/hello.pdf")
        >>> document.pages[0].status.value
        'ok'
        >>> print(document.to_markdown().strip())
        # Hello, page
        <BLANKLINE>
        This page was made to be read.
    """
    call = partial(
        convert_async,
        source,
        engine=engine,
        pages=pages,
        password=password,
        dpi=dpi,
        max_image_width=max_image_width,
        page_timeout=page_timeout,
        fast=fast,
        languages=languages,
        ocr=ocr,
        workers=workers,
        output=output,
        formats=formats,
        render_options=render_options,
        observer=observer,
    )
    # A loop of our own in a thread of its own: a notebook's thread already runs one.
    with start_blocking_portal() as portal:
        return portal.call(call)
