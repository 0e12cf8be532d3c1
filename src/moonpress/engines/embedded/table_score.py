"""How well a grid fits the words that stand in it.

Owns the score by which ways of reading a table are compared. Never reads or repairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from moonpress.engines.embedded.table_cells import Grid, Token, is_figure, joined, text_rows

_WIDE_GAP = 1.5


def fit(grid: Grid, filled: Sequence[Sequence[Token]]) -> float:
    """Score of a grid whose cells hold ``filled``, 0 to 1.

    It falls with the share of cells that hold words set far apart or figures side by side (a column
    was missed), with figures below each other (a row was missed), with words that lie for the most
    part outside their cell, and with rows and columns that are empty (cut where nothing is).
    """
    occupied = [(c, t) for c, t in zip(grid.cells, filled, strict=True) if t]
    if not occupied:
        return 0.0
    crowded = stacked = 0
    strays = words = 0
    for cell, tokens in occupied:
        rows = text_rows(tokens)
        figures = sum(is_figure(t.text) for t in tokens)
        crowded += any(_crowded(row) for row in rows) or (cell.column_span > 1 and figures >= 2)
        stacked += sum(is_figure(joined(row)) for row in rows) >= 2
        words += len(tokens)
        strays += sum(t.box.inside(cell.box) < 0.3 for t in tokens)
    used_rows = {r for c, _ in occupied for r in range(c.row, c.row + c.row_span)}
    used_columns = {k for c, _ in occupied for k in range(c.column, c.column + c.column_span)}
    hollow = 1 - len(used_rows) / grid.rows + 1 - len(used_columns) / grid.columns
    penalty = 2 * (crowded + stacked) / len(occupied) + strays / words + hollow
    return max(0.0, 1.0 - penalty)


def _crowded(row: Sequence[Token]) -> bool:
    return any(
        (white := right.box.x0 - left.box.x1) > _WIDE_GAP * right.size
        or (white > 0.6 * right.size and is_figure(left.text) and is_figure(right.text))
        for left, right in pairwise(row)
    )
