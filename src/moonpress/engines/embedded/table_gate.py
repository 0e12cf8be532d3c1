"""Whether a grid of words is a table at all.

Owns the tests that keep prose, lists, contents pages and bibliographies from being read as tables.
Never finds or reads tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from moonpress.engines.embedded.table_cells import Grid, Token, is_figure, joined, text_rows

_MARKER = re.compile(
    r"[•·▪■□●○◦‣–—*+\-]|\[?\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)\]:]{1,2}|\[[^\]]{1,12}\]"
    r"|[①-⑳]|[（(]?[一二三四五六七八九十]{1,2}[)）、.]"
)
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,6}")
_EQUATION = re.compile(r"\(\w?[.\d]{1,6}[a-z]?\)")
_PROSE_WORDS = 6
_LEADER = re.compile(r"(?:[.·…_]\s*){3,}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against a table.

    Attributes:
        rows: Rows of the grid.
        columns: Columns of the grid.
        filled: Share of cells with text.
        figures: Share of figures among the texts right of the first column.
        prose: Share of columns that hold running text.
        listed: Whether the first column holds nothing but list marks.
        contents: Whether it is a table of contents.
        longest: Most lines of text in one cell.
        paired: Rows with text in two cells or more.
        equations: Whether the last column holds nothing but numbers of equations.
        form: Whether the first of two columns asks for what the second one gives.
    """

    rows: int
    columns: int
    filled: float
    figures: float
    prose: float
    listed: bool
    contents: bool
    longest: int
    paired: int
    equations: bool
    form: bool


def weigh(grid: Grid, filled: Sequence[Sequence[Token]]) -> Evidence:
    """Gather the evidence for a grid whose cells hold ``filled``."""
    columns: list[list[str]] = [[] for _ in range(grid.columns)]
    prose: list[int] = [0] * grid.columns
    longest = 0
    for cell, tokens in zip(grid.cells, filled, strict=True):
        if not tokens:
            continue
        lines = text_rows(tokens)
        longest = max(longest, len(lines))
        if cell.column_span == 1:
            columns[cell.column].append(" ".join(joined(line) for line in lines))
            prose[cell.column] += sum(_is_prose(line) for line in lines)
    others = [text for column in columns[1:] for text in column]
    occupied = [bool(t) for t in filled]
    used = [k for k in range(grid.columns) if columns[k]]
    return Evidence(
        rows=grid.rows,
        columns=grid.columns,
        filled=sum(occupied) / max(len(occupied), 1),
        figures=sum(is_figure(t) for t in others) / max(len(others), 1),
        prose=sum(prose[k] >= max(2, len(columns[k]) / 2) for k in used) / max(len(used), 1),
        listed=_listed(columns),
        contents=_is_contents(columns),
        longest=longest,
        paired=_paired(grid, filled),
        equations=bool(columns[-1]) and all(_EQUATION.fullmatch(t) for t in columns[-1]),
        form=grid.columns == 2 and sum(t[-1] in ":：" for t in columns[0]) > 0.7 * len(columns[0]),
    )


def _paired(grid: Grid, filled: Sequence[Sequence[Token]]) -> int:
    counts = [0] * grid.rows
    for cell, tokens in zip(grid.cells, filled, strict=True):
        for row in range(cell.row, cell.row + cell.row_span):
            counts[row] += bool(tokens)
    return sum(count >= 2 for count in counts)


def _is_prose(line: Sequence[Token]) -> bool:
    """Whether a line of a cell looks like one of running text: wide, and of many words."""
    width = line[-1].box.x1 - line[0].box.x0
    words = [t for t in line if any(c.isalpha() for c in t.text)]
    return width > 14 * line[0].size and (
        len(words) >= _PROSE_WORDS or any(len(w.text) > 20 for w in words)
    )


def _listed(columns: Sequence[Sequence[str]]) -> bool:
    first = columns[0] if columns else []
    return len(first) >= 2 and sum(bool(_MARKER.fullmatch(t)) for t in first) > 0.7 * len(first)


def _is_contents(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the last column counts pages upwards, beside leaders or in a list of two columns."""
    last = columns[-1] if columns else []
    pages = [t for t in last if _PAGE.fullmatch(t)]
    if len(columns) > 3 or len(pages) < 3 or len(pages) < 0.8 * len(last):
        return False
    if any(sum(map(is_figure, column)) > len(column) / 2 for column in columns[1:-1]):
        return False
    numbers = [int(p) for p in pages if p.isdigit()]
    rising = all(a <= b for a, b in pairwise(numbers))
    led = sum(bool(_LEADER.search(t)) for column in columns[:-1] for t in column)
    return rising and (led >= 2 or len(numbers) >= 4)


def holds_when_ruled(evidence: Evidence) -> bool:
    """Whether ruling lines around these words make a table: more than frames around prose."""
    if evidence.rows * evidence.columns < 4 or evidence.columns < 2 or evidence.rows < 2:
        return False
    return evidence.filled >= 0.3 and evidence.longest <= 25 and evidence.paired >= 2


def holds_when_drawn(evidence: Evidence) -> bool:
    """Whether ruling lines inside a figure are those of a table: a chart's grid is mostly empty."""
    return holds_when_ruled(evidence) and evidence.filled >= 0.7


def holds_when_open(evidence: Evidence) -> bool:
    """Whether a few horizontal lines, or the layout model, make these words a table."""
    if evidence.columns < 2 or evidence.rows < 2 or evidence.listed or evidence.contents:
        return False
    if evidence.form or evidence.equations:
        return False
    # Two columns of prose, or of exercises with their numbers, are aligned too.
    if (evidence.prose >= 0.5 and evidence.figures < 0.2) or (
        evidence.prose >= 0.3 and evidence.figures < 0.1
    ):
        return False
    return evidence.filled >= 0.35 and evidence.longest <= 15 and evidence.paired >= 2


def holds_when_stacked(evidence: Evidence) -> bool:
    """Whether words between horizontal lines of one width are a table."""
    return holds_when_open(evidence) and (
        evidence.figures >= 0.3
        or (
            evidence.prose == 0
            and min(evidence.columns, evidence.rows) >= 3
            and evidence.filled >= 0.7
        )
    )


def holds_when_bare(evidence: Evidence) -> bool:
    """Whether words that nothing but their alignment marks are a table."""
    if not holds_when_open(evidence) or evidence.rows < 3 or evidence.filled < 0.5:
        return False
    if evidence.columns == 2:
        return evidence.rows >= 4 and evidence.figures >= 0.75 and evidence.prose == 0
    return evidence.figures >= 0.35 and evidence.prose <= 0.34
