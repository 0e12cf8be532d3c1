"""The table stage on generated pages with known truth, and on pages without any table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lxml import etree

from moonpress.document import ProblemCode
from moonpress.engines.embedded.prepare import TextStage
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.tables import TableReading, TableStage
from moonpress.engines.embedded.types import Box, Region, RegionKind, UprightPage
from tests.engines.embedded.table_truth import (
    Cells,
    cells_of,
    image_of,
    page_of,
    plain,
    rate,
    truth_cells,
    written,
)
from tests.generators import catalogue, tables
from tests.generators.page import GeneratedPage
from tests.generators.scans import Wear, as_scan

WEAR = Wear(blur=0.8, noise=9, shadow=40, contrast=0.86, quality=55)


@pytest.fixture(scope="module")
def texts() -> TextStage:
    return TextStage(EmbeddedSettings())


@pytest.fixture(scope="module")
def stage() -> TableStage:
    return TableStage(EmbeddedSettings())


def _read(stage: TableStage, page: UprightPage) -> list[TableReading]:
    readings = [stage.read(page, region) for region in stage.find(page, [])]
    return [reading for reading in readings if reading is not None]


def _cells(readings: Sequence[TableReading]) -> Cells:
    return cells_of(readings[0].html) if len(readings) == 1 else set()


def _digital_rate(texts: TextStage, stage: TableStage, pages: Sequence[GeneratedPage]) -> float:
    return rate(
        (truth_cells(page.tables[0]), _cells(_read(stage, texts.prepare(image_of(page.pdf)))))
        for page in pages
    )


@pytest.mark.parametrize(
    "pages", [tables.simple_tables, tables.spanned_tables, tables.long_cell_tables]
)
def test_born_digital_tables_are_found_and_read_exactly(
    texts: TextStage, stage: TableStage, pages: Callable[[], Sequence[GeneratedPage]]
) -> None:
    assert _digital_rate(texts, stage, pages()) >= 0.99


def test_a_clean_scan_is_read_exactly(texts: TextStage, stage: TableStage) -> None:
    page = tables.spanned_tables()[0]
    read = _read(stage, texts.prepare(image_of(as_scan(page, 200))))
    assert _cells(read) == truth_cells(page.tables[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pages", "floor"),
    [
        (tables.simple_tables, 0.98),
        (tables.spanned_tables, 0.95),
        (tables.long_cell_tables, 0.98),
    ],
)
def test_worn_and_skewed_scans_are_read_exactly(
    texts: TextStage, stage: TableStage, pages: Callable[[], Sequence[GeneratedPage]], floor: float
) -> None:
    pairs = []
    for number, page in enumerate(pages()):
        # The Chinese pages hold a few short words and no prose: too little to tell skew by.
        skew = 0.8 * (-1) ** number if page.language == "en" else 0.0
        scan = as_scan(page, 200, skew=skew, degrade=WEAR, seed=number)
        read = _cells(_read(stage, texts.prepare(image_of(scan))))
        pairs.append((truth_cells(page.tables[0]), read))
    assert rate(pairs) >= floor


@pytest.mark.parametrize("page", catalogue.prose_pages(), ids=lambda p: p.name)
def test_no_table_where_there_is_none(
    texts: TextStage, stage: TableStage, page: GeneratedPage
) -> None:
    assert stage.find(texts.prepare(image_of(page.pdf)), []) == []


@pytest.mark.parametrize("page", catalogue.chinese_pages(), ids=lambda p: p.name)
def test_no_table_in_chinese_prose(
    texts: TextStage, stage: TableStage, page: GeneratedPage
) -> None:
    assert stage.find(texts.prepare(image_of(page.pdf)), []) == []


CONTENTS = [
    (
        100 + 40 * k,
        [
            (100, f"{k + 1}"),
            (140, f"Chapter about things . . . . {'. ' * k}"),
            (800, f"{7 * k + 3}"),
        ],
    )
    for k in range(8)
]
BIBLIOGRAPHY = [
    (
        100 + 26 * k,
        [(100, f"[{k // 2 + 1}]"), (160, "A. Writer and B. Printer, On the Making of Paper, 1931")]
        if k % 2 == 0
        else [(160, "Journal of Old Machines 14, pages 20 to 41.")],
    )
    for k in range(16)
]
EQUATIONS = [(100 + 60 * k, [(300, "x = a + b"), (800, f"({k + 1})")]) for k in range(6)]
FORM = [
    (100 + 50 * k, [(100, f"{label}:"), (400, value)])
    for k, (label, value) in enumerate(
        [
            ("Name", "12"),
            ("Street", "14"),
            ("Town", "880"),
            ("Telephone", "55 31 20"),
            ("Age", "41"),
        ]
    )
]


@pytest.mark.parametrize(
    "rows",
    [CONTENTS, BIBLIOGRAPHY, EQUATIONS, FORM],
    ids=["contents", "bibliography", "equations", "form"],
)
def test_aligned_words_that_are_no_table(
    stage: TableStage, rows: list[tuple[float, list[tuple[float, str]]]]
) -> None:
    page = page_of(written(rows))
    everywhere = Region(RegionKind.TABLE, Box(80, 80, 950, 1000), 0.7)
    assert stage.find(page, []) == []
    assert stage.find(page, [everywhere]) == []


def test_figures_in_columns_are_a_table_without_any_line(stage: TableStage) -> None:
    rows = [(100.0, [(100.0, "Year"), (400.0, "Wheat"), (600.0, "Rye")])]
    rows += [
        (140.0 + 40 * k, [(100.0, f"18{k}0"), (400.0, f"{k}.5"), (600.0, f"{k}1")])
        for k in range(5)
    ]
    (reading,) = _read(stage, page_of(written(rows)))
    assert "<thead><tr><th>Year</th><th>Wheat</th><th>Rye</th></tr></thead>" in reading.html
    assert (5, 2, 1, 1, "41") in cells_of(reading.html)
    assert reading.lines == tuple(range(18))
    assert reading.confidence > 0.95


def test_text_is_escaped_and_nothing_of_a_line_is_lost(stage: TableStage) -> None:
    rows = [
        (100.0, [(100.0, "a < b & c"), (400.0, "x")]),
        (160.0, [(100.0, "d"), (400.0, "<script>")]),
    ]
    lines = [Box(90, y, 700, y + 2) for y in (90, 140, 200)]
    lines += [Box(x, 90, x + 2, 202) for x in (90, 390, 700)]
    (reading,) = _read(stage, page_of(written(rows), lines))
    assert "a &lt; b &amp; c" in reading.html
    assert "<script>" not in reading.html
    assert {"d", "<script>", "x", "a<b&c"} == {c[4] for c in cells_of(reading.html)}


def test_a_region_of_one_word_is_no_table(stage: TableStage) -> None:
    page = page_of(written([(100.0, [(100.0, "word")])]))
    assert stage.read(page, Region(RegionKind.TABLE, Box(90, 90, 300, 150), 0.9)) is None
    assert stage.read(page, Region(RegionKind.TABLE, Box(500, 500, 900, 900), 0.9)) is None


def test_a_poor_fit_is_said(stage: TableStage) -> None:
    # Figures far apart in one cell, in too few rows to tell that a line is missing between them.
    rows = [
        (100.0 + 40 * k, [(100.0, f"label{k}"), (400.0, "17"), (600.0, "28")]) for k in range(2)
    ]
    lines = [Box(90, 90 + 40 * k, 700, 92 + 40 * k) for k in range(3)]
    lines += [Box(x, 90, x + 2, 172) for x in (90, 390, 700)]
    (reading,) = _read(stage, page_of(written(rows), lines))
    assert reading.confidence < 0.6
    assert [p.code for p in reading.problems] == [ProblemCode.TABLE_UNCERTAIN]


def test_regions_grow_to_the_labels_that_the_model_left_out(stage: TableStage) -> None:
    rows = [
        (100.0 + 40 * k, [(100.0, f"label {k}"), (500.0, f"{k}.5"), (700.0, f"{k}1")])
        for k in range(6)
    ]
    page = page_of(written(rows))
    (region,) = stage.find(page, [Region(RegionKind.TABLE, Box(450, 90, 800, 330), 0.5)])
    assert region.box.x0 == 100


def test_the_grid_of_a_chart_is_no_table(stage: TableStage) -> None:
    """Names at dots, two of them level, in five of its nine fields; a table would fill them."""
    rows: list[tuple[float, list[tuple[float, str]]]] = [
        (130.0, [(120.0, "first"), (320.0, "second")]),
        (240.0, [(320.0, "third"), (520.0, "fourth")]),
        (340.0, [(120.0, "fifth")]),
    ]
    lines = [Box(100, 100 + 100 * k, 700, 102 + 100 * k) for k in range(4)]
    lines += [Box(100 + 200 * k, 100, 102 + 200 * k, 402) for k in range(4)]
    page = page_of(written(rows), lines)
    figure = Region(RegionKind.FIGURE, Box(80, 80, 720, 440), 0.95)
    assert len(stage.find(page, [])) == 1
    assert stage.find(page, [figure]) == []


def test_labels_of_a_chart_beside_a_table_are_not_taken_in(stage: TableStage) -> None:
    rows = [
        (100.0 + 40 * k, [(100.0, f"label {k}"), (300.0, f"{k}.5"), (700.0, f"{k}1")])
        for k in range(6)
    ]
    table = Region(RegionKind.TABLE, Box(90, 90, 400, 330), 0.9)
    figure = Region(RegionKind.FIGURE, Box(600, 80, 950, 400), 0.95)
    (alone,) = stage.find(page_of(written(rows)), [table, figure])
    assert alone.box.x1 <= 400


def test_icdar_2013_tables(shared: Path, texts: TextStage, stage: TableStage) -> None:
    pairs = []
    for path in sorted((shared / "data" / "corpus").glob("icdar13_us-*.pdf")):
        for number, truths in _icdar_truth(path.with_suffix("")).items():
            page = texts.prepare(image_of(path.read_bytes(), number))
            read = [_texts_only(cells_of(r.html)) for r in _read(stage, page)]
            pairs += [(truth, _nearest(truth, read)) for truth in truths]
    assert len(pairs) == 6
    assert rate(pairs) >= 0.87


def _nearest(truth: Cells, read: Sequence[Cells]) -> Cells:
    return max(read, key=lambda cells: len(cells & truth), default=set())


def _icdar_truth(stem: Path) -> dict[int, list[Cells]]:
    """Cells of each table by page, counted from its first row and column."""
    pages: dict[int, list[Cells]] = {}
    for region in etree.parse(f"{stem}.gt.str.xml").iter("region"):
        rows = [
            (
                int(c.get("start-row")),
                int(c.get("start-col")),
                int(c.get("end-row", c.get("start-row"))),
                int(c.get("end-col", c.get("start-col"))),
                "".join(c.find("content").itertext()),
            )
            for c in region.iter("cell")
        ]
        top, left = min(r[0] for r in rows), min(r[1] for r in rows)
        cells = {(a - top, b - left, c - a + 1, d - b + 1, plain(t)) for a, b, c, d, t in rows}
        pages.setdefault(int(region.get("page")), []).append(_texts_only(cells))
    return pages


def _texts_only(cells: Cells) -> Cells:
    """Cells with text; leaders are not compared."""
    return {(*c[:4], c[4].rstrip(".")) for c in cells if c[4].strip(".")}
