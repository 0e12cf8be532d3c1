"""Stacks of lines into paragraphs.

Owns where one paragraph ends and the next begins. Never decides whether a paragraph is a heading,
a list item or anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from moonpress.document import TextOrigin
from moonpress.engines.embedded.drafts import around, rows_of
from moonpress.engines.embedded.lists import marker_of
from moonpress.engines.embedded.types import Box, Line

_SENTENCE_END = re.compile(r"[.:;!?\u3002\uff01\uff1a\uff1b\uff1f][\"'\u201d\u2019)\]]*$")
_CLAUSE_END = re.compile(r"[.,:;!?\u3002\uff01\uff1a\uff1b\uff1f\uff0c][\"'\u201d\u2019)\]]*$")


@dataclass(frozen=True, slots=True)
class _Row:
    box: Box
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return " ".join(line.text.strip() for line in self.lines)

    @property
    def size(self) -> float:
        return median(line.size or line.box.height for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Column:
    """What is usual in a stack: its margins and the gap between rows, in pixels."""

    left: float
    right: float
    gap: float


def split_paragraphs(stack: Sequence[Line]) -> list[tuple[tuple[Line, ...], ...]]:
    """Split the lines of one stack into paragraphs, from the top; each is a tuple of rows."""
    rows = [_Row(around(line.box for line in row), row) for row in rows_of(stack)]
    if not rows:
        return []
    column = _measure(rows)
    paragraphs: list[list[_Row]] = [[rows[0]]]
    for k in range(1, len(rows)):
        following = rows[k + 1] if k + 1 < len(rows) else None
        first = paragraphs[-1][0]
        item = first if marker_of(first.text) else None
        if _begins(rows[k], rows[k - 1], following, column, item):
            paragraphs.append([rows[k]])
        else:
            paragraphs[-1].append(rows[k])
    return [tuple(row.lines for row in rows) for rows in paragraphs]


def _measure(rows: Sequence[_Row]) -> _Column:
    lefts = sorted(row.box.x0 for row in rows)
    rights = sorted(row.box.x1 for row in rows)
    gaps = [b.box.y0 - a.box.y1 for a, b in pairwise(rows)]
    return _Column(
        left=lefts[len(lefts) // 5],
        right=rights[-1 - len(rights) // 5],
        gap=median(gaps) if gaps else 0.0,
    )


def _begins(
    row: _Row, before: _Row, following: _Row | None, column: _Column, item: _Row | None
) -> bool:
    """Whether ``row`` begins a new paragraph after the row ``before``.

    In a list item, whose first row is ``item``, the rows after the first may be indented.
    """
    height = min(row.box.height, before.box.height)
    if row.box.y0 - before.box.y1 > column.gap + 0.35 * height:
        return True
    if row.bold != before.bold or not _same_size(row, before):
        return True
    if marker_of(row.text) is not None and not (item is None and _runs_on(before, row, column)):
        return True
    if item is not None and row.box.x0 > item.box.x0 + 0.5 * height:
        return False
    if item is not None and row.box.x0 < before.box.x0 - 0.5 * height and before is not item:
        return True
    return _ended(before, row, column) or _indented(row, before, following, column)


def _same_size(row: _Row, before: _Row) -> bool:
    """Whether two rows are set alike; a detector draws the box of a short last line tighter."""
    ratio = row.size / max(before.size, 1.0)
    scanned = all(line.origin is TextOrigin.OCR for line in row.lines)
    goes_on = row.text[:1].islower() and _SENTENCE_END.search(before.text) is None
    if scanned and goes_on and row.box.width < 0.6 * before.box.width:
        return 0.72 < ratio < 1.18
    return 0.85 < ratio < 1.18


def _runs_on(before: _Row, row: _Row, column: _Column) -> bool:
    """Whether the row before is full and its sentence open, so that a label is a word of it."""
    marker = marker_of(row.text)
    bullet = marker is not None and marker.length > 0 and marker.number is None
    full = column.right - before.box.x1 < row.box.height
    level = abs(row.box.x0 - before.box.x0) < 0.3 * row.box.height
    return not bullet and full and level and _CLAUSE_END.search(before.text) is None


def _indented(row: _Row, before: _Row, following: _Row | None, column: _Column) -> bool:
    """First-line indent: in against the row before, and the next row goes back out."""
    height = row.box.height
    indent = row.box.x0 - column.left
    if not 0.7 * height < indent < 5 * height or before.box.x0 > column.left + 0.5 * height:
        return False
    return following is None or following.box.x0 < row.box.x0 - 0.5 * height


def _ended(before: _Row, row: _Row, column: _Column) -> bool:
    """A short last line: the first word of the next row would still have fitted."""
    words = row.text.split(None, 1)
    if not words:
        return False
    per_letter = row.box.width / max(len(row.text), 1)
    free = column.right - before.box.x1
    if free < (len(words[0]) + 1) * per_letter + 1.2 * row.box.height:
        return False
    return _SENTENCE_END.search(before.text) is not None or words[0][0].isupper()
