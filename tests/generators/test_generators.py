"""The generators tell the truth: what they claim is what a reader of the PDF finds."""

from __future__ import annotations

import io
import re

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image

from moonpress.document import BlockKind
from tests.generators import GeneratedPage, as_scan, image_only_pdf, join_pages, mixed, prose
from tests.generators.catalogue import all_pages, samples
from tests.generators.scans import as_pixels

PAGES = all_pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_line_is_where_the_truth_says(page: GeneratedPage) -> None:
    with pdfium.PdfDocument(page.pdf) as document:
        text_page = document[0].get_textpage()
        for line in page.lines:
            box = line.bbox
            found = text_page.get_text_bounded(
                left=box.x0 * page.width_pt - 1,
                right=box.x1 * page.width_pt + 1,
                bottom=page.height_pt * (1 - box.y1) - 1,
                top=page.height_pt * (1 - box.y0) + 1,
            )
            # pdfium marks a hyphen at the end of a line as U+FFFE or U+0002.
            printed = re.sub(r"[\s\ufffe\x02-]", "", found)
            wanted = re.sub(r"[\s-]", "", line.text)
            assert set(wanted) <= set(printed), line.text
            if "formula" not in page.name:
                assert wanted in printed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_blocks_have_ink_and_hold_their_lines(page: GeneratedPage) -> None:
    pixels = as_pixels(page, 72)
    height, width = pixels.shape[:2]
    for block in page.blocks:
        left, top, right, bottom = block.bbox.to_pixels(width, height)
        assert pixels[top:bottom, left:right].min() < 128, block.text
        for line in block.lines:
            assert line.bbox.intersection(block.bbox) > 0.95 * line.bbox.area


def test_same_seed_same_bytes() -> None:
    assert prose.columns(2, seed=5) == prose.columns(2, seed=5)
    assert prose.columns(2, seed=5).pdf != prose.columns(2, seed=6).pdf


def test_hyphenation_is_undone_in_the_truth() -> None:
    page = prose.one_column()
    hyphenated = [line.text for line in page.lines if line.text.endswith("-")]
    assert hyphenated
    assert not re.search(r"\w- ", page.text)


def test_tables_fill_their_grid_without_overlap() -> None:
    tables = [table for page in PAGES for table in page.tables]
    assert any(table.has_spans for table in tables)
    for table in tables:
        places = [
            (cell.row + i, cell.column + j)
            for cell in table.cells
            for i in range(cell.row_span)
            for j in range(cell.column_span)
        ]
        assert sorted(places) == [(r, c) for r in range(table.rows) for c in range(table.columns)]


def test_scans_are_turned_clockwise_and_carry_their_resolution() -> None:
    page = prose.header_footer()
    upright = Image.open(io.BytesIO(as_scan(page, 60)))
    turned = Image.open(io.BytesIO(as_scan(page, 60, rotate=90)))
    assert upright.size == turned.size[::-1]
    assert np.array_equal(np.rot90(np.asarray(upright), k=-1), np.asarray(turned))
    assert round(upright.info["dpi"][0]) == 60


def test_wear_changes_the_picture_and_depends_on_the_seed() -> None:
    page = prose.ragged()
    clean = as_scan(page, 60)
    worn = as_scan(page, 60, degrade=True, seed=1)
    assert worn not in {clean, as_scan(page, 60, degrade=True, seed=2)}
    assert worn == as_scan(page, 60, degrade=True, seed=1)


def test_image_only_has_no_text_and_mixed_has_the_stamp_alone() -> None:
    page = prose.columns(2)
    for data, wanted in (
        (image_only_pdf(as_scan(page, 60), dpi=60), ""),
        (mixed(page, stamp="RECEIVED 9", dpi=60), "RECEIVED 9"),
    ):
        with pdfium.PdfDocument(data) as document:
            assert document[0].get_textpage().get_text_range() == wanted
            assert document[0].get_width() == pytest.approx(page.width_pt, abs=2)


def test_pages_join_into_one_file_in_order() -> None:
    pages = [prose.header_footer(number=n) for n in (1, 2, 3)]
    with pdfium.PdfDocument(join_pages(pages)) as document:
        ends = [p.get_textpage().get_text_range().strip()[-1] for p in document]
    assert ends == ["1", "2", "3"]


def test_samples_have_unique_names_and_cover_the_kinds() -> None:
    found = samples()
    names = [s.name + s.suffix for s in found]
    assert len(set(names)) == len(names)
    kinds = {block.kind for s in found for block in s.page.blocks}
    expected = {
        BlockKind.HEADING, BlockKind.TEXT, BlockKind.LIST, BlockKind.TABLE, BlockKind.FORMULA,
        BlockKind.FIGURE, BlockKind.CAPTION, BlockKind.CODE, BlockKind.FORM, BlockKind.FOOTNOTE,
        BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER,
    }  # fmt: skip
    assert expected <= kinds
