"""The grid of an HTML table: which cell lies where, spans resolved.

Owns the reading of rows, spans and headers, repeated ones too. Never renders: see
`markdown_tables` and `text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lxml.html import HtmlElement

from moonpress.document.html import is_block, tag_of

# What browsers allow for colspan; a larger number is damage or malice.
_MAX_SPAN: Final = 1000
_PLAIN_BLOCKS: Final = frozenset({"p", "div", "math"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; rows and columns count from 0 at the top left.

    Attributes:
        element: ``td`` or ``th``.
        row: Its first row.
        column: Its first column.
        rows: How many rows it covers.
        columns: How many columns it covers.
    """

    element: HtmlElement
    row: int
    column: int
    rows: int
    columns: int

    @property
    def is_header(self) -> bool:
        """Whether it is a ``th``."""
        return tag_of(self.element) == "th"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        cells: Row by row, left to right.
        rows: Number of rows.
        columns: Number of columns of the widest row.
        header_rows: Rows at the top that are all headers.
        caption: The ``caption`` element, if there is one.
    """

    cells: tuple[Cell, ...]
    rows: int
    columns: int
    header_rows: int
    caption: HtmlElement | None

    @property
    def is_simple(self) -> bool:
        """Whether every cell is one field of running text under at most one row of headers."""
        if self.header_rows > 1:
            return False
        return all(c.rows == c.columns == 1 and not _holds_blocks(c.element) for c in self.cells)

    def by_row(self) -> list[list[Cell]]:
        """The cells that begin in each row."""
        rows: list[list[Cell]] = [[] for _ in range(self.rows)]
        for cell in self.cells:
            rows[cell.row].append(cell)
        return rows


def read_grid(table: HtmlElement) -> Grid:
    """Lay out the cells of ``table`` as a browser does."""
    rows = list(_rows(table))
    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for number, (row, _) in enumerate(rows):
        column = 0
        for element in row:
            if tag_of(element) not in {"td", "th"}:
                continue
            while (number, column) in taken:
                column += 1
            cell = Cell(
                element,
                number,
                column,
                rows=min(_span(element, "rowspan"), len(rows) - number),
                columns=_span(element, "colspan"),
            )
            cells.append(cell)
            if cell.rows > 1:
                taken |= {
                    (number + down, column + right)
                    for down in range(cell.rows)
                    for right in range(cell.columns)
                }
            column += cell.columns
    columns = max((c.column + c.columns for c in cells), default=0)
    captions = [e for e in table if tag_of(e) == "caption"]
    return Grid(
        tuple(cells),
        len(rows),
        columns,
        _header_rows(cells, [in_head for _, in_head in rows]),
        captions[0] if captions else None,
    )


def repeated_header(first: Grid, second: Grid) -> int | None:
    """How many rows at the top of ``second`` repeat those of ``first``, of which it is the rest.

    ``None`` when ``second`` has a header of its own, so that it is a table of its own.
    """
    rows = second.header_rows or 1
    if _row_texts(first, rows) == _row_texts(second, rows) and rows < second.rows:
        return rows
    return None if second.header_rows else 0


def _row_texts(grid: Grid, rows: int) -> list[tuple[int, int, str]]:
    return [
        (cell.row, cell.column, " ".join("".join(cell.element.itertext()).casefold().split()))
        for cell in grid.cells
        if cell.row < rows
    ]


def _rows(table: HtmlElement) -> Iterator[tuple[HtmlElement, bool]]:
    """Rows of this table, not of tables inside, and whether each stands in ``thead``."""
    for child in table:
        tag = tag_of(child)
        if tag == "tr":
            yield child, False
        elif tag in {"thead", "tbody", "tfoot"}:
            for row in child:
                if tag_of(row) == "tr":
                    yield row, tag == "thead"


def _header_rows(cells: list[Cell], in_head: list[bool]) -> int:
    plain_rows = {c.row for c in cells if not c.is_header}
    filled = {c.row for c in cells}
    count = 0
    while count < len(in_head) and (in_head[count] or count in filled - plain_rows):
        count += 1
    return count


def _span(element: HtmlElement, name: str) -> int:
    value = element.get(name, "").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1


def _holds_blocks(element: HtmlElement) -> bool:
    return any(is_block(e) and tag_of(e) not in _PLAIN_BLOCKS for e in element.iterdescendants())
