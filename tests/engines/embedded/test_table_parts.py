"""Parts of the table stage: figures, text of cells, headers, lines, fit, the model's answer."""

from __future__ import annotations

import numpy as np
import pytest

from moonpress.engines.embedded.table_cells import (
    Cell,
    Grid,
    Token,
    is_figure,
    is_number,
    tokens_in,
    without_leaders,
)
from moonpress.engines.embedded.table_html import cell_text, header_rows, to_html
from moonpress.engines.embedded.table_model import TableModel, _decoded
from moonpress.engines.embedded.table_rules import (
    clusters,
    drawn,
    rules_in_pixels,
    rules_of,
)
from moonpress.engines.embedded.table_score import fit
from moonpress.engines.embedded.types import Box
from tests.engines.embedded.table_truth import image_of, truth_cells, written
from tests.generators import tables
from tests.generators.scans import as_pixels


@pytest.mark.parametrize(
    "text", ["12", "1,234.5", "(801)", "58.1%", "$ 12", "-3", "–", "12.3 ± 0.4", "1 000", "3.32T"]
)
def test_figures_are_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "a 12", "12 monkeys", "Total", "B0"])
def test_words_are_no_numbers(text: str) -> None:
    assert not is_number(text)


def test_a_year_heads_a_column_and_a_dash_is_no_figure() -> None:
    assert not is_figure("2005")
    assert not is_figure("–")
    assert is_figure("2,005")


def test_leaders_go_and_marks_for_nothing_stay() -> None:
    assert without_leaders("All ages . . . . .") == "All ages"
    assert without_leaders("...") == "..."
    assert without_leaders("et al.") == "et al."


def _tokens(*rows: tuple[float, str], left: float = 10) -> list[Token]:
    return tokens_in(written((top, [(left, text)]) for top, text in rows), Box(0, 0, 2000, 2000))


def test_lines_of_a_cell_are_joined_hyphens_undone_breaks_kept_where_meant() -> None:
    narrow = Cell(0, 0, 1, 1, Box(0, 0, 160, 100))
    assert cell_text(narrow, _tokens((0, "one long"), (24, "sentence"))) == "one long sentence"
    assert cell_text(narrow, _tokens((0, "one sen-"), (24, "tence"))) == "one sentence"
    wide = Cell(0, 0, 1, 1, Box(0, 0, 800, 100))
    assert cell_text(wide, _tokens((0, "Jo"), (24, "12 Elm"))) == "Jo<br>12 Elm"


def _grid(rows: int, columns: int) -> Grid:
    cells = [
        Cell(r, c, 1, 1, Box(200 * c, 40 * r, 200 * c + 200, 40 * r + 40))
        for r in range(rows)
        for c in range(columns)
    ]
    return Grid(rows, columns, tuple(cells))


def test_a_header_ends_where_figures_begin() -> None:
    grid = _grid(3, 3)
    texts = ["", "2005", "2010", "a", "1.5", "2.5", "b", "3.5", "4.5"]
    assert header_rows(grid, texts, [False] * 9) == 1
    figures = ["a", "1", "2", "b", "3", "4", "c", "5", "6"]
    assert header_rows(grid, figures, [False] * 9) == 0


def test_a_heading_over_columns_takes_their_own_headings_along() -> None:
    cells = (
        Cell(0, 0, 2, 1, Box(0, 0, 200, 80)),
        Cell(0, 1, 1, 2, Box(200, 0, 600, 40)),
        Cell(1, 1, 1, 1, Box(200, 40, 400, 80)),
        Cell(1, 2, 1, 1, Box(400, 40, 600, 80)),
        Cell(2, 0, 1, 1, Box(0, 80, 200, 120)),
        Cell(2, 1, 1, 1, Box(200, 80, 400, 120)),
        Cell(2, 2, 1, 1, Box(400, 80, 600, 120)),
    )
    grid = Grid(3, 3, cells)
    texts = ["name", "both", "x", "y", "a", "1.5", "2.5"]
    assert header_rows(grid, texts, [False] * 7) == 2
    assert to_html(grid, texts, 2) == (
        '<table><thead><tr><th rowspan="2">name</th><th colspan="2">both</th></tr>'
        "<tr><th>x</th><th>y</th></tr></thead>"
        "<tbody><tr><td>a</td><td>1.5</td><td>2.5</td></tr></tbody></table>"
    )


def test_fit_falls_with_missed_columns_missed_rows_and_empty_ones() -> None:
    grid = _grid(2, 2)
    good = [_tokens((10 + c.box.y0, "12"), left=c.box.x0 + 20) for c in grid.cells]
    assert fit(grid, good) == 1.0
    beside = [*good[:3], good[3] + _tokens((50, "34"), left=320)]
    below = [*good[:3], good[3] + _tokens((70, "34"), left=220)]
    empty = [good[0], [], good[2], []]
    assert fit(grid, beside) < 0.6
    assert fit(grid, below) < 0.6
    assert fit(grid, empty) == 0.5
    assert fit(grid, [[], [], [], []]) == 0.0


def test_pieces_of_one_line_are_joined_and_bars_are_no_lines() -> None:
    pieces = [Box(0, 100, 50, 101), Box(52, 101, 90, 102), Box(0, 300, 90, 340)]
    rules = rules_of([*pieces, Box(10, 0, 11, 80)], 3)
    assert rules.horizontal == (Box(0, 100, 90, 102),)
    assert rules.vertical == (Box(10, 0, 11, 80),)


def test_of_lines_too_close_the_longer_stays() -> None:
    lines = [(100.0, 500.0), (102.0, 500.0), (115.0, 40.0), (150.0, 500.0)]
    assert clusters(lines, tolerance=4, least=20) == [101.0, 150.0]


def test_edges_of_shading_do_not_show_as_lines() -> None:
    pixels = np.full((200, 200, 3), 255, dtype=np.uint8)
    pixels[50:100, 20:180] = 200
    pixels[150, 20:180] = 0
    edge, inside, line = Box(20, 50, 180, 50), Box(20, 75, 180, 75), Box(20, 150, 180, 150)
    assert drawn([edge, inside, line], pixels) == [line]


def test_lines_in_pixels_are_found_and_words_are_not() -> None:
    pixels = as_pixels(tables.simple_tables()[0], 200)
    rules = rules_of(rules_in_pixels(pixels), 5)
    assert len(rules.horizontal) == 8
    assert len(rules.vertical) == 5


def test_the_models_tokens_become_cells_with_spans() -> None:
    words = ["<thead>", "<tr>", "<td", ' rowspan="2"', ">", "</td>", "<td", ' colspan="2"', ">"]
    words += ["</td>", "</tr>", "<tr>", "<td></td>", "<td></td>", "</tr>", "</thead>", "<tbody>"]
    words += ["<tr>", "<td></td>", "<td></td>", "<td></td>", "</tr>", "</tbody>"]
    boxes = np.arange(len(words) * 4, dtype=np.float32).reshape(-1, 4)
    grid = _decoded(words, boxes)
    assert grid is not None
    assert (grid.rows, grid.columns, grid.header_rows) == (3, 3, 2)
    assert [(c.row, c.column, c.row_span, c.column_span) for c in grid.cells][:4] == [
        (0, 0, 2, 1),
        (0, 1, 1, 2),
        (1, 1, 1, 1),
        (1, 2, 1, 1),
    ]
    assert grid.cells[0].box == Box(8, 9, 10, 11)


def test_tokens_that_contradict_each_other_are_refused() -> None:
    boxes = np.zeros((9, 4), dtype=np.float32)
    assert _decoded([], boxes) is None
    assert _decoded(["<tr>", "<td", ' rowspan="3"', ">", "</td>", "</tr>"], boxes) is None


def test_the_model_sees_rows_columns_and_spans() -> None:
    page = tables.spanned_tables()[0]
    block = next(b for b in page.blocks if b.table)
    image = image_of(page.pdf)
    x0, y0, x1, y1 = block.bbox.to_pixels(image.size.width_px, image.size.height_px)
    grid = TableModel(1).read(image.pixels, Box(x0, y0, x1, y1))
    assert grid is not None
    assert block.table is not None
    truth = {cell[:4] for cell in truth_cells(block.table)}
    assert {(c.row, c.column, c.row_span, c.column_span) for c in grid.cells} == truth
