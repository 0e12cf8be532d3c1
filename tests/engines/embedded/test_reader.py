"""Whole pages read: generated ones against their truth, real ones for their order."""

from __future__ import annotations

import html
import re
from pathlib import Path

import numpy as np
import pytest

from moonpress.document import (
    Block,
    BlockKind,
    Document,
    Metadata,
    Page,
    PageImage,
    PageReading,
    PageSize,
    PageStatus,
)
from moonpress.engines.embedded.reader import PageReader
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.generators import GeneratedPage, prose, structures

REQUEST = RenderRequest(dpi=200, max_pixels=8_000_000)


@pytest.fixture(scope="module")
def reader() -> PageReader:
    return PageReader(EmbeddedSettings(fast=True))


def read(reader: PageReader, source: bytes | Path) -> PageReading:
    opened = open_source(source, name="test", password=None)
    try:
        return reader.read(opened.page(1, REQUEST))
    finally:
        opened.close()


def plain(block: Block) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", block.html)).split())


@pytest.mark.parametrize(
    "page",
    [
        prose.one_column(),
        prose.ragged(),
        prose.columns(2),
        prose.columns(3),
        prose.headings(),
        prose.header_footer(),
        prose.footnotes(),
        prose.chinese_columns(),
        structures.lists(),
        structures.code(),
        structures.figure(),
    ],
    ids=lambda page: page.name,
)
def test_kinds_and_order_of_generated_pages(reader: PageReader, page: GeneratedPage) -> None:
    reading = read(reader, page.pdf)
    assert reading.status is PageStatus.OK
    begun = [b for b in reading.blocks if b.continues is None]
    assert [b.kind for b in begun] == [b.kind for b in page.blocks]


@pytest.mark.parametrize("count", [2, 3])
def test_text_of_columns_is_exact(reader: PageReader, count: int) -> None:
    page = prose.columns(count)
    reading = read(reader, page.pdf)
    begun = [b.id for b in reading.blocks if b.continues is None]
    # What goes on in the next column is shown with its beginning, and has a box of its own.
    assert len(begun) == len(page.blocks) < len(reading.blocks)
    shown = Page(1, PageSize(595, 842, 1654, 2339), PageStatus.OK, blocks=reading.blocks)
    document = Document("a", "", (shown,), Metadata(1, "application/pdf"))
    paragraphs = [" ".join(part.split()) for part in document.to_text().split("\n\n")]
    assert paragraphs == [" ".join(b.text.split()) for b in page.blocks]
    widest = max(b.bbox.x1 - b.bbox.x0 for b in reading.blocks if b.kind is BlockKind.TEXT)
    assert widest < 1 / count


def test_heading_sizes_let_the_document_be_levelled(reader: PageReader) -> None:
    page = prose.headings()
    reading = read(reader, page.pdf)
    pairs = [
        (truth.level, block.font_size)
        for truth, block in zip(page.blocks, reading.blocks, strict=True)
        if truth.kind is BlockKind.HEADING
    ]
    sizes = dict(pairs)
    assert list(sizes.values()) == sorted(sizes.values(), key=lambda size: -(size or 0))


def test_a_caption_belongs_to_its_figure(reader: PageReader) -> None:
    blocks = read(reader, structures.figure().pdf).blocks
    figure = next(b for b in blocks if b.kind is BlockKind.FIGURE)
    caption = next(b for b in blocks if b.kind is BlockKind.CAPTION)
    assert caption.caption_for == figure.id


def test_a_white_page_is_blank(reader: PageReader) -> None:
    pixels = np.full((600, 400, 3), 255, dtype=np.uint8)
    reading = reader.read(PageImage(1, pixels, PageSize(144, 216, 400, 600)))
    assert reading.status is PageStatus.BLANK
    assert reading.blocks == ()


def test_usage_names_the_engine_and_its_cost(reader: PageReader) -> None:
    usage = read(reader, prose.ragged().pdf).usage
    assert usage.engine == "embedded"
    assert usage.cpu_seconds is not None
    assert 0 < usage.cpu_seconds < 30
    assert usage.seconds > 0


def test_a_real_paper_column_by_column(reader: PageReader, shared: Path) -> None:
    paper = shared / "bench" / "olmocr_sample" / "pdfs" / "multi_column_miss.pdf"
    if not paper.is_file():
        pytest.skip("the shared folder has no bench/olmocr_sample")
    blocks = read(reader, paper).blocks
    body = " ".join(plain(b) for b in blocks if b.kind is not BlockKind.PAGE_HEADER)
    order = ["Corporate social", "past three decades", "CORPORATE SOCIAL RESPONSIBILITY"]
    places = [body.index(words) for words in order]
    assert places == sorted(places)
    assert "Downloaded from" not in body
