"""Pages with one table: ruled in every usual way, simple or with spans and cells of several lines.

Owns the cell texts, the spans and the drawing; the truth is the grid itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from random import Random

from moonpress.document import BlockKind
from tests.generators.fonts import Face, width_of
from tests.generators.page import (
    GeneratedPage,
    TruthBlock,
    TruthCell,
    TruthLine,
    TruthTable,
)
from tests.generators.prose import PLAIN
from tests.generators.words import chinese_phrase, english_paragraph, english_phrase
from tests.generators.writer import Frame, PageWriter, Style, wrap


class Ruling(StrEnum):
    """Which lines are drawn."""

    GRID = "grid"
    BOOKTABS = "booktabs"
    ROWS = "rows"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What to draw.

    Attributes:
        rows: Rows, heads included.
        columns: Columns.
        ruling: Lines drawn.
        spans: A second head row under heads that span columns, and a first column that spans rows.
        long_cells: Some cells hold several lines.
        numbers: All but the first column hold figures.
        chinese: Chinese words.
        seed: Of the words.
    """

    rows: int = 7
    columns: int = 4
    ruling: Ruling = Ruling.GRID
    spans: bool = False
    long_cells: bool = False
    numbers: bool = True
    chinese: bool = False
    seed: int = 31


@dataclass(frozen=True, slots=True)
class _Grid:
    """Edges of columns and rows in points from the page's top left corner."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]


def table_page(spec: TableSpec) -> GeneratedPage:
    """A caption, the table, and prose above and below it."""
    rng = Random(spec.seed)
    marks = [m for m, on in (("spans", spec.spans), ("long", spec.long_cells)) if on]
    size = f"{spec.rows}x{spec.columns}"
    name = "-".join(["table", spec.ruling.value, size, *marks, *(["zh"] if spec.chinese else [])])
    page = PageWriter(name, language="zh" if spec.chinese else "en")
    frame = page.frame()
    style = Style(face=Face.HEI if spec.chinese else Face.SERIF, size=9, leading=11.5)
    if not spec.chinese:
        page.text(english_paragraph(rng, 50), frame, PLAIN, gap=12)
        caption = f"Table 1: {english_paragraph(rng, 6)}"
        page.text(caption, frame, style.sized(9), BlockKind.CAPTION, gap=6)
    cells = _cells(spec, rng)
    page.blocks.append(_draw(page, frame, spec, cells, style))
    page.y += 14
    if not spec.chinese:
        page.text(english_paragraph(rng, 50), frame, PLAIN)
    return page.finish()


def simple_tables() -> tuple[GeneratedPage, ...]:
    """One page for each way of ruling, without spans, and a Chinese one."""
    specs = [TableSpec(ruling=ruling, seed=40 + i) for i, ruling in enumerate(Ruling)]
    specs.append(TableSpec(numbers=False, columns=3, seed=45))
    specs.append(TableSpec(rows=18, columns=6, ruling=Ruling.BOOKTABS, seed=46))
    specs.append(TableSpec(chinese=True, numbers=False, seed=47))
    return tuple(table_page(spec) for spec in specs)


def spanned_tables() -> tuple[GeneratedPage, ...]:
    """Tables with heads over several columns and a first column over several rows."""
    specs = [
        TableSpec(ruling=Ruling.GRID, spans=True, rows=8, columns=5, seed=50),
        TableSpec(ruling=Ruling.BOOKTABS, spans=True, rows=8, columns=5, seed=51),
        TableSpec(ruling=Ruling.GRID, spans=True, rows=12, columns=7, seed=52),
        TableSpec(ruling=Ruling.GRID, spans=True, rows=8, columns=5, seed=53, chinese=True),
    ]
    return tuple(table_page(spec) for spec in specs)


def long_cell_tables() -> tuple[GeneratedPage, ...]:
    """Tables whose cells hold several lines."""
    specs = [
        TableSpec(ruling=ruling, long_cells=True, numbers=False, columns=3, seed=60 + i)
        for i, ruling in enumerate((Ruling.GRID, Ruling.ROWS, Ruling.BOOKTABS))
    ]
    return tuple(table_page(spec) for spec in specs)


def _cells(spec: TableSpec, rng: Random) -> list[TruthCell]:
    """Fill the grid; spans are cut out first and all other places get a cell of their own."""
    spans = _spans(spec) if spec.spans else {}
    covered = {
        (row + i, column + j)
        for (row, column), (height, width) in spans.items()
        for i in range(height)
        for j in range(width)
    } - set(spans)
    cells = []
    for row in range(spec.rows):
        for column in range(spec.columns):
            if (row, column) in covered:
                continue
            height, width = spans.get((row, column), (1, 1))
            cells.append(TruthCell(row, column, _text(spec, rng, row, column), height, width))
    return cells


def _spans(spec: TableSpec) -> dict[tuple[int, int], tuple[int, int]]:
    """Place and size of each span: the corner, group heads of two columns, pairs of rows."""
    spans = {(0, 0): (2, 1)}
    for column in range(1, spec.columns, 2):
        spans[0, column] = (1, min(2, spec.columns - column))
    for row in range(2, spec.rows, 2):
        spans[row, 0] = (min(2, spec.rows - row), 1)
    return spans


def _text(spec: TableSpec, rng: Random, row: int, column: int) -> str:
    if spec.long_cells and row and column and rng.random() < 0.5:
        return english_paragraph(rng, 7)
    heads = 2 if spec.spans else 1
    if spec.numbers and column and row >= heads:
        return f"{rng.uniform(0, 900):.{rng.randint(0, 2)}f}"
    if spec.chinese:
        return chinese_phrase(rng)[-2:]
    phrase = english_phrase(rng)
    return phrase.capitalize() if column == 0 or row >= heads else phrase.split()[1].capitalize()


def _draw(
    page: PageWriter, frame: Frame, spec: TableSpec, cells: list[TruthCell], style: Style
) -> TruthBlock:
    grid = _measure(page.y, frame, spec, cells, style)
    page.canvas.setLineWidth(0.6)
    printed: list[TruthLine] = []
    for cell in cells:
        printed += _print_cell(page, grid, spec, cell, style)
        if spec.ruling is Ruling.GRID:
            left, right = grid.xs[cell.column], grid.xs[cell.column + cell.column_span]
            top, bottom = grid.ys[cell.row], grid.ys[cell.row + cell.row_span]
            page.canvas.rect(left, page.height - bottom, right - left, bottom - top)
    _rule(page, grid, spec)
    page.y = grid.ys[-1]
    table = TruthTable(spec.rows, spec.columns, tuple(cells), page.name)
    box = page.box(grid.xs[0], grid.ys[0], grid.xs[-1], grid.ys[-1])
    return TruthBlock(BlockKind.TABLE, _as_text(table), box, tuple(printed), table=table)


def _measure(
    top: float, frame: Frame, spec: TableSpec, cells: list[TruthCell], style: Style
) -> _Grid:
    shares = [1.3] + [1.0] * (spec.columns - 1)
    widths = [frame.width * share / sum(shares) for share in shares]
    xs = tuple(accumulate([frame.left, *widths]))
    heights = [style.leading + 5.0] * spec.rows
    for cell in cells:
        if cell.row_span == 1:
            room = xs[cell.column + cell.column_span] - xs[cell.column] - 8
            rows = len(wrap(cell.text, room, style))
            heights[cell.row] = max(heights[cell.row], rows * style.leading + 5.0)
    return _Grid(xs, tuple(accumulate([top, *heights])))


def _print_cell(
    page: PageWriter, grid: _Grid, spec: TableSpec, cell: TruthCell, style: Style
) -> list[TruthLine]:
    left = grid.xs[cell.column] + 4
    room = grid.xs[cell.column + cell.column_span] - left - 4
    rows = wrap(cell.text, room, style)
    top, bottom = grid.ys[cell.row], grid.ys[cell.row + cell.row_span]
    y = (top + bottom - len(rows) * style.leading) / 2 + 1
    printed = []
    for text in rows:
        width = width_of(text, style.face, style.size)
        x = left
        if cell.column_span > 1:
            x = left + (room - width) / 2
        elif spec.numbers and cell.column:
            x = left + room - width
        printed.append(page.line(text, x, y, style))
        y += style.leading
    return printed


def _rule(page: PageWriter, grid: _Grid, spec: TableSpec) -> None:
    """Horizontal lines of the rulings that have no boxes."""
    heads = 2 if spec.spans else 1
    thick = {0: 1.2, heads: 0.6, spec.rows: 1.2}
    wanted = {
        Ruling.BOOKTABS: thick,
        Ruling.ROWS: dict.fromkeys(range(spec.rows + 1), 0.5),
    }.get(spec.ruling, {})
    for row, weight in wanted.items():
        page.canvas.setLineWidth(weight)
        base = page.height - grid.ys[row]
        page.canvas.line(grid.xs[0], base, grid.xs[-1], base)
    if spec.spans and spec.ruling is Ruling.BOOKTABS:
        page.canvas.setLineWidth(0.4)
        base = page.height - grid.ys[1]
        for column in range(1, spec.columns, 2):
            end = grid.xs[min(column + 2, spec.columns)]
            page.canvas.line(grid.xs[column] + 3, base, end - 3, base)


def _as_text(table: TruthTable) -> str:
    """Cells of a row parted by tabs, rows by line breaks."""
    rows = []
    for row in range(table.rows):
        cells = sorted((c for c in table.cells if c.row == row), key=lambda c: c.column)
        rows.append("\t".join(c.text for c in cells))
    return "\n".join(rows)
