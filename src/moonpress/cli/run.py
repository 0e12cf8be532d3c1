"""What ``chandra-pdf`` does after its options are read: input to pages to files.

Owns the order of the steps and the exit code. Never parses options and never words errors.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.interrupts import run_interruptible
from moonpress.cli.progress import watching
from moonpress.cli.report import exit_code, tell_pages, tell_written
from moonpress.cli.voice import Voice
from moonpress.document import Delimiters, Document, RenderOptions
from moonpress.engines.registry import create_engine
from moonpress.errors import InputUnreadable, UsageError
from moonpress.outputs.figures import FigureCrops
from moonpress.outputs.targets import Targets, check_writable, resolve_targets
from moonpress.outputs.writer import write_document
from moonpress.pipeline.convert import (
    DRAWING_SECONDS,
    ConvertSettings,
    Observer,
    convert_document,
)

_STANDARD_STREAM = "-"
_STANDARD_INPUT_NAME = "standard input"


@dataclass(frozen=True, slots=True)
class PdfRequest:
    """One call of ``chandra-pdf``; the fields are its options."""

    file: str
    pages: str | None
    password: str | None
    dpi: float | None
    max_image_width: int | None
    output: str | None
    formats: tuple[str, ...]
    headers_footers: bool
    page_anchors: bool
    delimiters: str
    reading: EngineChoice


def read_to_files(request: PdfRequest, voice: Voice) -> int:
    """Read the input and write the results; nothing is written when no page could be read.

    Returns:
        The exit code.

    Raises:
        MoonpressError: of any kind but those of single pages.
    """
    began = time.perf_counter()
    piped = request.file == _STANDARD_STREAM
    output = _STANDARD_STREAM if piped and request.output is None else request.output
    name = _STANDARD_INPUT_NAME if piped else request.file
    targets = resolve_targets(request.file, output, request.formats)
    if targets.stdout is not None and sys.stdout is None:
        raise UsageError("standard output is closed", hint="Name a file with --output")
    check_writable(targets)
    source = _standard_input() if piped else Path(request.file)
    with _crops_for(targets) as crops:
        with watching(name, voice) as observer:
            document = run_interruptible(
                lambda: _read(
                    request, source, name=name, observer=observer, crops=crops, voice=voice
                )
            )
        tell_pages(document, voice)
        if len(document.failed_pages) < len(document.pages):
            written = write_document(document, targets, crops, _render_options(request))
            tell_written(document, written, time.perf_counter() - began, voice)
    return exit_code(document)


@contextmanager
def _crops_for(targets: Targets) -> Iterator[FigureCrops | None]:
    """A place for crops while pages are read; ``None`` when the results hold no figures."""
    if targets.figures is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="moonpress-") as folder:
        yield FigureCrops(Path(folder))


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("nothing is piped in", file=_STANDARD_INPUT_NAME, hint="Name a file")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        cause = error.strerror or str(error)
        raise InputUnreadable(cause, file=_STANDARD_INPUT_NAME, hint="Name a file") from error


async def _read(
    request: PdfRequest,
    source: Path | bytes,
    *,
    name: str,
    observer: Observer,
    crops: FigureCrops | None,
    voice: Voice,
) -> Document:
    choice = request.reading
    settings = ConvertSettings(
        pages=request.pages,
        password=request.password,
        dpi=request.dpi,
        max_image_width=request.max_image_width,
        page_timeout=choice.page_timeout or DRAWING_SECONDS,
    )
    async with aclosing(create_engine(choice.engine, choice.options(voice))) as engine:
        return await convert_document(
            source, name=name, engine=engine, settings=settings, observer=observer, crops=crops
        )


def _render_options(request: PdfRequest) -> RenderOptions:
    return RenderOptions(
        delimiters=Delimiters(request.delimiters),
        headers_footers=request.headers_footers,
        page_anchors=request.page_anchors,
    )
