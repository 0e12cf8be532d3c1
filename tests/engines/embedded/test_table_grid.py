"""Grids from lines, gutters and rows of text, on scenes written by hand."""

from __future__ import annotations

from collections.abc import Iterable

from moonpress.engines.embedded.table_cells import Grid, fill, joined, tokens_in
from moonpress.engines.embedded.table_grid import build, scene_of
from moonpress.engines.embedded.table_rules import rules_of
from moonpress.engines.embedded.types import Box
from tests.engines.embedded.table_truth import written

Row = tuple[float, list[tuple[float, str]]]
Found = dict[tuple[int, int], tuple[int, int, str]]


def _read(rows: Iterable[Row], rulings: Iterable[Box] = ()) -> Found:
    """Cells as {(row, column): (row span, column span, text)}."""
    lines = written(rows)
    page = Box(0, 0, 1000, 1400)
    tokens = tokens_in(lines, page)
    rules = rules_of(rulings, 4)
    around = Box(*tokens[0].box)
    for box in (*(t.box for t in tokens), *rules.horizontal, *rules.vertical):
        around = around.union(box)
    grid = build(scene_of(around, tokens, rules, 4))
    assert isinstance(grid, Grid)
    return {
        (c.row, c.column): (c.row_span, c.column_span, joined(words))
        for c, words in zip(grid.cells, fill(grid, tokens), strict=True)
    }


def _across(y: float, x0: float = 90, x1: float = 710) -> Box:
    return Box(x0, y, x1, y + 2)


def _down(x: float, y0: float, y1: float) -> Box:
    return Box(x, y0, x + 2, y1)


def test_a_missing_line_joins_cells_sideways_and_downwards() -> None:
    rows: list[Row] = [
        (100, [(350, "head")]),
        (140, [(420, "a"), (620, "b")]),
        (160, [(100, "two rows")]),
        (180, [(420, "c"), (620, "d")]),
    ]
    frame = [_across(90), _across(130), _across(170, 390), _across(210)]
    frame += [_down(90, 90, 210), _down(390, 130, 210), _down(590, 130, 210), _down(710, 90, 210)]
    assert _read(rows, frame) == {
        (0, 0): (1, 3, "head"),
        (1, 0): (2, 1, "two rows"),
        (1, 1): (1, 1, "a"),
        (1, 2): (1, 1, "b"),
        (2, 1): (1, 1, "c"),
        (2, 2): (1, 1, "d"),
    }


def test_a_short_line_below_a_heading_tells_its_columns() -> None:
    rows: list[Row] = [
        (100, [(480, "both")]),
        (130, [(100, "name"), (400, "one"), (600, "two")]),
        (170, [(100, "first"), (400, "1.5"), (600, "2.5")]),
        (200, [(100, "second"), (400, "3.5"), (600, "4.5")]),
    ]
    found = _read(rows, [_across(90), _across(124, 390, 700), _across(160), _across(230)])
    assert found[0, 1] == (1, 2, "both")
    assert found[0, 0] == (2, 1, "name")
    assert found[3, 2] == (1, 1, "4.5")


def test_lines_around_columns_only_leave_rows_to_the_figures() -> None:
    rows: list[Row] = [(100 + 25 * k, [(100, f"n{k}"), (420, f"{k}.5")]) for k in range(4)]
    frame = [_across(90), _across(205), *(_down(x, 90, 205) for x in (90, 390, 710))]
    found = _read(rows, frame)
    assert [found[k, 1][2] for k in range(4)] == ["0.5", "1.5", "2.5", "3.5"]


def test_lines_of_one_ruled_cell_stay_together() -> None:
    rows: list[Row] = [
        (100, [(100, "a long"), (420, "x")]),
        (125, [(100, "label")]),
        (165, [(100, "short"), (420, "y")]),
        (205, [(100, "more"), (420, "z")]),
    ]
    frame = [_across(y) for y in (90, 155, 195, 235)]
    frame += [_down(x, 90, 235) for x in (90, 390, 710)]
    assert _read(rows, frame)[0, 0] == (1, 1, "a long label")


def test_a_currency_sign_goes_with_its_figure() -> None:
    rows: list[Row] = [
        (100, [(100, "cost"), (400, "$"), (480, "178"), (600, "$"), (680, "141")]),
        (130, [(100, "gain"), (470, "3,423"), (670, "2,532")]),
        (160, [(100, "total"), (400, "$"), (480, "4,737"), (600, "$"), (680, "3,549")]),
    ]
    found = _read(rows)
    assert found[0, 1][2] == "$ 178"
    assert found[2, 2][2] == "$ 4,737" or found[2, 2][2] == "$ 3,549"
    assert max(column for _, column in found) == 2


def test_rows_by_two_pitches_of_lines() -> None:
    rows: list[Row] = []
    for k in range(4):
        top = 100 + 90 * k
        rows += [(top, [(100, f"item {k}"), (300, "first line of a text")])]
        rows += [(top + 24, [(300, "and its second line")])]
    found = _read(rows)
    assert found[2, 1] == (1, 1, "first line of a text and its second line")
    assert max(row for row, _ in found) == 3


def test_a_label_between_two_rows_spans_both() -> None:
    rows: list[Row] = []
    for k in range(3):
        top = 100 + 80 * k
        rows += [(top, [(300, f"{k}.1"), (500, f"{k}.2")])]
        rows += [(top + 20, [(100, f"pair {k}")])]
        rows += [(top + 40, [(300, f"{k}.3"), (500, f"{k}.4")])]
    found = _read(rows)
    assert found[2, 0] == (2, 1, "pair 1")
    assert found[3, 1] == (1, 1, "1.3")


def test_long_headings_of_single_columns_are_one_row() -> None:
    rows: list[Row] = [
        (100, [(395, "number")]),
        (124, [(100, "group"), (400, "of all")]),
        (170, [(100, "first"), (410, "1.5")]),
        (210, [(100, "second"), (410, "3.5")]),
        (250, [(100, "third"), (410, "5.5")]),
    ]
    found = _read(rows)
    assert found[0, 1] == (1, 1, "number of all")
    assert found[1, 0] == (1, 1, "first")
