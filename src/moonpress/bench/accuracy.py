"""How well an engine reads documents whose truth is known.

Owns finding documents with their truths, reading them, and the scores of each. Never prints, and
never chooses an engine. The formulas are `moonpress.bench.metrics`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from moonpress.bench import metrics
from moonpress.bench.markdown import Table, plain_text, tables
from moonpress.document import Document
from moonpress.document.rendering import RenderOptions, find_output
from moonpress.engines.base import Engine
from moonpress.errors import EngineUnavailable, InputUnreadable, MoonpressError, UsageError
from moonpress.pipeline.convert import ConvertSettings, Quiet, convert_document
from moonpress.sources.inputs.kinds import is_document

_TRUTHS: Final = (".md", ".html", ".txt")
_CJK_SHARE: Final = 0.3
_SCORES: Final = ("cer", "wer", "order", "found", "teds", "cells")


@dataclass(frozen=True, slots=True)
class Pair:
    """A document and what it says.

    Attributes:
        document: PDF or picture.
        truth: Markdown, HTML or text beside it, of the same name.
    """

    document: Path
    truth: Path


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine made of a document.

    Attributes:
        markdown: Empty when it failed as a whole.
        pages: That were selected; 0 when it could not be opened.
        failed_pages: Of them.
        seconds: Wall time, with drawing.
        error: Why it failed as a whole, if it did.
    """

    markdown: str
    pages: int
    failed_pages: int
    seconds: float
    error: str | None


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one document; ``None`` where its truth says nothing of the kind.

    Attributes:
        document: Its name.
        cer: Character error rate; may be over 1 when much was invented.
        wer: Word error rate; ``None`` for Chinese and Japanese, which have no spaces.
        order: Share of pairs of blocks that stand in the right order, 0 to 1.
        found: Share of the truth's blocks that were found.
        teds: Tree edit similarity of tables, mean over them, 0 to 1.
        cells: Share of cells with the right place, spans and text, mean over the tables.
    """

    document: str
    cer: float | None
    wer: float | None
    order: float | None
    found: float | None
    teds: float | None
    cells: float | None


def find_pairs(folder: Path) -> list[Pair]:
    """Documents in a folder, and below it, that have a truth beside them, by name.

    Raises:
        InputUnreadable: it is no folder.
        UsageError: no document in it has a truth.
    """
    if not folder.is_dir():
        raise InputUnreadable("is no folder", file=str(folder), hint="Name a folder")
    found = []
    for path in sorted(folder.rglob("*")):
        if not is_document(path.name):
            continue
        truths = [truth for suffix in _TRUTHS if (truth := path.with_suffix(suffix)).is_file()]
        found += [Pair(path, truths[0])] if truths else []
    if not found:
        raise UsageError(
            f"no document in {folder} has a truth beside it",
            hint="Put paper.md, paper.html or paper.txt beside paper.pdf",
        )
    return found


async def read_one(pair: Pair, engine: Engine, settings: ConvertSettings) -> Reading:
    """Read a document.

    Raises:
        EngineUnavailable: the engine is not there.
    """
    began = time.perf_counter()
    try:
        document = await convert_document(
            pair.document,
            name=str(pair.document),
            engine=engine,
            settings=settings,
            observer=Quiet(),
            crops=None,
        )
    except EngineUnavailable:
        raise
    except MoonpressError as error:
        return Reading("", 0, 0, time.perf_counter() - began, str(error))
    markdown = _markdown(document)
    failed = len(document.failed_pages)
    return Reading(markdown, len(document.pages), failed, time.perf_counter() - began, None)


def score(pair: Pair, reading: Reading) -> Score:
    """Compare a reading with its truth. Tables that take over a minute have no TEDS.

    Raises:
        InputUnreadable: the truth cannot be read.
    """
    try:
        truth = pair.truth.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputUnreadable(str(error), file=str(pair.truth), hint="Write it as UTF-8") from error
    words = plain_text(truth)
    cjk = sum(letter >= "\u2e80" for letter in words) > _CJK_SHARE * len(words)
    blocks = [block for block in truth.split("\n\n") if block.strip()]
    order, found = (
        metrics.order_score(blocks, reading.markdown) if len(blocks) > 1 else (None, None)
    )
    similar, cells = _tables(tables(truth), reading.markdown)
    return Score(
        document=str(pair.document),
        cer=metrics.character_error(truth, reading.markdown, script="cjk" if cjk else ""),
        wer=None if cjk else metrics.word_error(truth, reading.markdown),
        order=order,
        found=found,
        teds=similar,
        cells=cells,
    )


def summary(scores: Sequence[Score], readings: Iterable[Reading]) -> dict[str, Any]:
    """Means over documents, ready for JSON."""
    rows = [asdict(one) for one in scores]
    means: dict[str, Any] = {}
    for name in _SCORES:
        known = [row[name] for row in rows if row[name] is not None]
        means[name] = round(fmean(known), 5) if known else None
    read = list(readings)
    pages = sum(one.pages for one in read)
    seconds = sum(one.seconds for one in read)
    return {
        "documents": len(rows),
        "failed_documents": sum(one.error is not None for one in read),
        "pages": pages,
        "failed_pages": sum(one.failed_pages for one in read),
        **means,
        "seconds_per_page": round(seconds / pages, 3) if pages else None,
    }


def _tables(truth: Sequence[Table], markdown: str) -> tuple[float | None, float | None]:
    if not truth:
        return None, None
    pairs = list(zip(truth, metrics.pair_tables(truth, tables(markdown)), strict=True))
    similar = [value for one, two in pairs if (value := metrics.teds(one, two)) is not None]
    cells = fmean(metrics.exact_cells(one, two) for one, two in pairs)
    return (fmean(similar) if similar else None), cells


def _markdown(document: Document) -> str:
    text: str = find_output("markdown").render(document, RenderOptions())
    return text
