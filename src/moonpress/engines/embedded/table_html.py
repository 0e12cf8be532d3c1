"""Markup of a table: its cells' text and its header.

Owns how words in a cell become text and which rows are a header. Never decides where cells are.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from moonpress.engines.embedded.table_cells import (
    Cell,
    Grid,
    Token,
    glued,
    is_figure,
    joined,
    text_rows,
    without_leaders,
)

_HEADER_AT_MOST = 4


def cell_text(cell: Cell, tokens: Sequence[Token]) -> str:
    """Text of one cell, escaped; lines joined, or parted by ``<br>`` where the break is meant."""
    rows = text_rows(tokens)
    pieces: list[str] = []
    for index, row in enumerate(rows):
        text = joined(row)
        if not pieces or _break_is_meant(cell, rows[index - 1], row):
            pieces.append(text)
        elif _hyphenated(pieces[-1], text):
            pieces[-1] = pieces[-1][:-1] + text
        else:
            pieces[-1] = glued(pieces[-1], text)
    return "<br>".join(html.escape(without_leaders(p), quote=False) for p in pieces)


def _hyphenated(left: str, right: str) -> bool:
    return left.endswith("-") and left[-2:-1].isalpha() and right[:1].islower()


def _break_is_meant(cell: Cell, above: Sequence[Token], row: Sequence[Token]) -> bool:
    """Whether the next word would have fitted on the line above with much room to spare."""
    size = row[0].size
    room = cell.box.x1 - above[-1].box.x1
    aligned = abs(above[0].box.x0 - row[0].box.x0) < size / 2
    needed = row[0].box.width + 2 * size
    return aligned and room > max(2 * needed, 0.5 * cell.box.width)


def header_rows(grid: Grid, texts: Sequence[str], bold: Sequence[bool]) -> int:
    """How many rows at the top are a header; 0 when none is evident.

    Args:
        grid: The table.
        texts: Text of each cell, in the order of its cells.
        bold: Whether all words of each cell are bold.
    """
    if grid.rows < 2:
        return 0
    if grid.header_rows:
        return grid.header_rows
    first = next((k for k in range(grid.rows) if _has_figures(grid, texts, k)), None)
    top = [k for k, cell in enumerate(grid.cells) if cell.row == 0]
    if first == 0:
        return 0
    if first is None and not (all(texts[k] for k in top) or all(bold[k] for k in top if texts[k])):
        return 0
    rows = 1
    if len(top) == 1 and grid.rows > 2:
        # A title over all columns stands above the header proper.
        rows = 2
    for cell, text in zip(grid.cells, texts, strict=True):
        # A heading over several columns or rows takes the rows of its sub-headings along.
        if cell.row < rows and text:
            deeper = cell.column_span > 1 and cell.column_span < grid.columns
            rows = max(rows, cell.row + cell.row_span + deeper)
    limit = min(first if first is not None else grid.rows - 1, _HEADER_AT_MOST)
    if first is not None:
        rows = max(rows, _rows_to_head_all(grid, texts, limit))
    return min(rows, limit)


def _rows_to_head_all(grid: Grid, texts: Sequence[str], limit: int) -> int:
    """How many rows it takes until every column but the first has a heading; 0 if too many."""
    headed: set[int] = set()
    for row in range(limit):
        for cell, text in zip(grid.cells, texts, strict=True):
            if cell.row == row and text and cell.column_span < max(grid.columns - 1, 2):
                headed.update(range(cell.column, cell.column + cell.column_span))
        if headed >= set(range(1, grid.columns)):
            return row + 1
    return 0


def _has_figures(grid: Grid, texts: Sequence[str], row: int) -> bool:
    """Whether figures fill at least half of the cells right of the first column."""
    filled = [
        text
        for cell, text in zip(grid.cells, texts, strict=True)
        if cell.row == row and cell.column > 0 and text
    ]
    return bool(filled) and 2 * sum(is_figure(t) for t in filled) >= len(filled)


def to_html(grid: Grid, texts: Sequence[str], headers: int) -> str:
    """Write the table; ``texts`` are escaped already."""
    rows: list[list[str]] = [[] for _ in range(grid.rows)]
    for cell, text in zip(grid.cells, texts, strict=True):
        tag = "th" if cell.row < headers else "td"
        spans = "".join(
            f' {name}="{count}"'
            for name, count in (("rowspan", cell.row_span), ("colspan", cell.column_span))
            if count > 1
        )
        rows[cell.row].append(f"<{tag}{spans}>{text}</{tag}>")
    lines = [f"<tr>{''.join(cells)}</tr>" for cells in rows]
    if not headers:
        return f"<table><tbody>{''.join(lines)}</tbody></table>"
    head, body = "".join(lines[:headers]), "".join(lines[headers:])
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
