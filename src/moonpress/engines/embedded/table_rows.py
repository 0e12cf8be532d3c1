"""Rows of a table where no lines part them.

Owns the choice between "every line of text is a row" and "rows hold several lines". Never looks at
ruling lines or columns' positions beyond the boundaries it is given.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from moonpress.engines.embedded.table_cells import (
    Token,
    is_figure,
    is_number,
    joined,
    text_rows,
)

# Lines of one cell are set tighter than rows: one pitch must exceed the other by this factor.
_PITCH_JUMP = 1.25
_WIDEST_TIGHT = 1.7
_WIDEST_IN_HEAD = 1.5
# Shares of a row's height: white that still lets rows touch, and overlap that two rows never have.
_TOUCHING = 0.25
_TANGLED = 0.3


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of one column at one height."""

    column: int
    x0: float
    y0: float
    x1: float
    y1: float
    text: str

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


def row_cuts(
    tokens: Sequence[Token], xs: Sequence[float], size: float, *, head: bool = False
) -> list[float]:
    """Heights between the rows of ``tokens``.

    Args:
        tokens: Words of an area that no line crosses.
        xs: Column boundaries, ascending, outer ones included.
        size: Usual letter size in pixels.
        head: Whether the area is the head of a table, parted from the rest by a line.
    """
    lines = _column_lines(tokens, xs)
    blocks = _blocks(lines, size)
    if blocks is None or not _plausible(blocks):
        blocks = _continued(lines, tokens, xs, head=head)
    spans = sorted((min(b.y0 for b in block), max(b.y1 for b in block)) for block in blocks)
    return [(max(e for _, e in spans[:k]) + spans[k][0]) / 2 for k in range(1, len(spans))]


def rows_are_lines(tokens: Sequence[Token], xs: Sequence[float]) -> bool:
    """Whether figures stand below each other in ``tokens``: a figure never runs over two lines."""
    stacked: dict[int, int] = defaultdict(int)
    for line in _column_lines(tokens, xs):
        if is_number(line.text) and any(c.isdigit() for c in line.text):
            stacked[line.column] += 1
    return any(count >= 2 for count in stacked.values())


def has_figures(tokens: Sequence[Token], xs: Sequence[float]) -> bool:
    """Whether a figure stands alone in a cell right of the first column."""
    return any(n.column > 1 and is_figure(n.text) for n in _column_lines(tokens, xs))


def _column_lines(tokens: Sequence[Token], xs: Sequence[float]) -> list[_Line]:
    columns: dict[int, list[Token]] = defaultdict(list)
    for token in tokens:
        columns[bisect_right(xs, (token.box.x0 + token.box.x1) / 2)].append(token)
    return [
        _Line(
            column,
            min(t.box.x0 for t in row),
            min(t.box.y0 for t in row),
            max(t.box.x1 for t in row),
            max(t.box.y1 for t in row),
            joined(row),
        )
        for column, members in columns.items()
        for row in text_rows(members)
    ]


def _blocks(lines: Sequence[_Line], size: float) -> list[list[_Line]] | None:
    """Group lines into rows by two pitches: tight within a cell, wide between rows.

    ``None`` when there is only one pitch.
    """
    columns: dict[int, list[_Line]] = defaultdict(list)
    for line in sorted(lines, key=lambda n: n.middle):
        columns[line.column].append(line)
    pitches = sorted(
        (b.middle - a.middle) / size for column in columns.values() for a, b in pairwise(column)
    )
    jump = next(
        ((a + b) / 2 for a, b in pairwise(pitches) if b > _PITCH_JUMP * a and a <= _WIDEST_TIGHT),
        None,
    )
    if jump is None or pitches[0] > _WIDEST_TIGHT:
        return None
    groups: list[list[_Line]] = []
    for column in columns.values():
        for index, line in enumerate(column):
            if index and (line.middle - column[index - 1].middle) / size < jump:
                groups[-1].append(line)
            else:
                groups.append([line])
    return _overlapping(groups)


def _overlapping(groups: Sequence[list[_Line]]) -> list[list[_Line]]:
    """Join groups whose heights overlap."""
    rows: list[list[_Line]] = []
    bottom = float("-inf")
    for group in sorted(groups, key=lambda g: g[0].y0):
        height = group[0].y1 - group[0].y0
        if rows and group[0].y0 < bottom - 0.2 * height:
            rows[-1] += group
        else:
            rows.append(list(group))
            bottom = float("-inf")
        bottom = max(bottom, group[-1].y1)
    return rows


def _plausible(blocks: Sequence[Sequence[_Line]]) -> bool:
    """Whether blocks can be rows: no stacked figures, and not all columns equally many lines."""
    even = uneven = 0
    for block in blocks:
        counts: dict[int, int] = defaultdict(int)
        figures: dict[int, int] = defaultdict(int)
        for line in block:
            counts[line.column] += 1
            figures[line.column] += is_number(line.text)
        if any(f >= 2 for f in figures.values()):
            return False
        if max(counts.values()) >= 2:
            if len(counts) >= 2 and min(counts.values()) == max(counts.values()):
                even += 1
            else:
                uneven += 1
    return uneven >= even


def _continued(
    lines: Sequence[_Line], tokens: Sequence[Token], xs: Sequence[float], *, head: bool
) -> list[list[_Line]]:
    """One row for each line of text, except lines that only continue text of the row above."""
    heights = [(min(t.box.y0 for t in r), max(t.box.y1 for t in r)) for r in text_rows(tokens)]
    rows: list[list[_Line]] = [[] for _ in heights]
    for line in lines:
        nearest = min(range(len(heights)), key=lambda k: abs(sum(heights[k]) / 2 - line.middle))
        rows[nearest].append(line)
    rows = _untangled([r for r in rows if r])
    first = next(
        (k for k, r in enumerate(rows) if any(n.column > 1 and is_figure(n.text) for n in r)),
        len(rows) if head else 0,
    )
    if first > 1 and _is_one_head(rows[:first], tokens, xs):
        rows = [[line for row in rows[:first] for line in row], *rows[first:]]
    merged: list[list[_Line]] = []
    last: list[_Line] = []
    for row in rows:
        if merged and _continues(last, row, xs):
            merged[-1] += row
        else:
            merged.append(list(row))
        last = row
    return merged


def _is_one_head(
    rows: Sequence[Sequence[_Line]], tokens: Sequence[Token], xs: Sequence[float]
) -> bool:
    """Whether lines of a head are long headings of single columns, not headings above headings.

    Lines of one heading are set tight, follow each other without gaps, and share their left edge,
    their middle or their right edge; a heading of several columns stands across them.
    """
    bottom = max(n.y1 for row in rows for n in row)
    for token in tokens:
        if token.middle < bottom and any(token.box.x0 < x < token.box.x1 for x in xs[1:-1]):
            return False
    columns: dict[int, list[tuple[int, _Line]]] = defaultdict(list)
    for index, row in enumerate(rows):
        for line in row:
            columns[line.column].append((index, line))
    if len(columns) < 2 or len(columns) < len(xs) - 2:
        return False
    if len(rows) >= 3 and all(len(members) == len(rows) for members in columns.values()):
        return False
    for members in columns.values():
        for (i, a), (j, b) in pairwise(members):
            slack = 0.6 * (a.y1 - a.y0)
            offsets = (a.x0 - b.x0, a.x0 + a.x1 - b.x0 - b.x1, a.x1 - b.x1)
            tight = b.middle - a.middle < _WIDEST_IN_HEAD * tokens[0].size
            if j - i != 1 or not tight or min(map(abs, offsets)) > slack:
                return False
    return _aligned_ends(list(columns.values()), len(rows))


def _aligned_ends(columns: Sequence[Sequence[tuple[int, _Line]]], rows: int) -> bool:
    """Whether headings of one or more lines all end low, begin high, or stand in the middle."""
    starts = [members[0][0] for members in columns]
    ends = [members[-1][0] for members in columns]
    centred = all(abs(s - (rows - 1 - e)) <= 1 for s, e in zip(starts, ends, strict=True))
    return all(e == rows - 1 for e in ends) or all(s == 0 for s in starts) or centred


def _untangled(rows: list[list[_Line]]) -> list[list[_Line]]:
    """Settle rows that overlap in height, top to bottom.

    A row whose columns are empty in the two rows that it stands between is made of cells over both
    of these, and is no row of its own, unless it has more columns than they: then they are the
    first and last lines of its own long cells.
    """
    settled: list[list[_Line]] = []
    index = 0
    while index < len(rows):
        row = rows[index]
        after = rows[index + 1 : index + 3]
        if len(after) == 2 and _touch(row, after[0]) and _touch(after[0], after[1]):
            outer = {n.column for n in row} | {n.column for n in after[1]}
            middle = {n.column for n in after[0]}
            if not outer & middle and len(middle) <= len(outer):
                settled.append(row)
                index += 2
                continue
        if settled and _overlap(settled[-1], row) > _TANGLED:
            settled[-1] += row
        else:
            settled.append(list(row))
        index += 1
    return settled


def _touch(above: Sequence[_Line], below: Sequence[_Line]) -> bool:
    return _overlap(above, below) > -_TOUCHING


def _overlap(above: Sequence[_Line], below: Sequence[_Line]) -> float:
    """Height that two rows share, as a share of the lower one's; negative for white between."""

    def extent(row: Sequence[_Line]) -> tuple[float, float]:
        return sum(n.y0 for n in row) / len(row), sum(n.y1 for n in row) / len(row)

    (top, bottom), (next_top, next_bottom) = extent(above), extent(below)
    return (bottom - next_top) / max(min(bottom - top, next_bottom - next_top), 1.0)


def _continues(above: Sequence[_Line], row: Sequence[_Line], xs: Sequence[float]) -> bool:
    """Whether ``row`` holds nothing but second lines of cells of ``above``."""
    upper = {n.column: n for n in above}
    first = min(upper)
    if any(is_number(n.text) or n.column not in upper for n in row):
        return False
    if first in {n.column for n in row}:
        return False
    pitch = min(n.middle - upper[n.column].middle for n in row)
    tallest = max(n.y1 - n.y0 for n in row)
    return pitch < 1.6 * tallest and all(
        not is_number(upper[n.column].text) and _was_full(upper[n.column], n, xs) for n in row
    )


def _was_full(above: _Line, line: _Line, xs: Sequence[float]) -> bool:
    """Whether the first word of ``line`` would not have fitted after ``above``."""
    if line.column >= len(xs):
        return True
    letter = (above.y1 - above.y0) / 2
    word = len(line.text.split()[0]) * letter
    return above.x1 + word > xs[line.column] - letter
