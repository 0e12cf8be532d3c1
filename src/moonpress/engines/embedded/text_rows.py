"""Which words of a page stand in one line: rows by baseline, cut at gutters.

Owns the cutting of rows. Never looks at single characters or at fonts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from moonpress.engines.embedded.types import Box

# Widths in units of the letter size (em).
_WORD_GAP = 0.55  # a gap up to this is a word space, however the neighbours stand
_WIDE_GAP = 2.2  # a gap above this always ends a line
_WIDEST = 8.0  # a gap above this ends a line even within a justified paragraph
_CLEAR = 0.4  # white that a gutter keeps over all its rows
_REACH = 20.0  # how far from a gap its row must have words to count as standing on both sides
_INITIAL = 0.42  # size of letters beside a drop capital, at most, in its own
_PITCH = 3.2  # rows further apart than this have nothing to do with each other

_MARKER = re.compile(
    r"^(?:[•▪◦◻➢✓‣·*–—-]|\(?[0-9]{1,3}[.)]|\(?[A-Za-z][.)]|[0-9]+(?:\.[0-9]+)+\.?"
    r"|\[[0-9A-Za-z+]{1,8}\])$"
)


class Span(NamedTuple):
    """A word in pixels, with the range of glyphs it is made of.

    ``spaced`` tells whether the text layer has a space before it.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    base: float
    text: str
    start: int
    end: int
    spaced: bool


def split_rows(spans: Sequence[Span], walls: Sequence[Box]) -> list[list[Span]]:
    """Group words into lines, each sorted from left to right.

    Args:
        spans: The words of a page.
        walls: Upright rulings; a line never runs on through one.
    """
    rows = [_Row(sorted(row, key=lambda s: s.x0)) for row in _rows(spans)]
    lines: list[list[Span]] = []
    for number, row in enumerate(rows):
        line: list[Span] = []
        reach = 0.0
        for span in row.spans:
            if line:
                gap = _Gap(reach, span.x0, max(line[-1].size, span.size))
                if _walled(gap, span, walls) or _cut(rows, number, line, gap):
                    lines.append(line)
                    line = []
            line.append(span)
            reach = span.x1 if len(line) == 1 else max(reach, span.x1)
        lines.append(line)
    return lines


class _Gap(NamedTuple):
    """White between two words of a row, and the letter size there."""

    left: float
    right: float
    size: float

    @property
    def width(self) -> float:
        return self.right - self.left


class _Row:
    """Words on one baseline, sorted from left to right."""

    __slots__ = ("base", "ends", "spans", "starts")

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.base = spans[0].base
        self.starts = [s.x0 for s in spans]
        self.ends = [s.x1 for s in spans]


def _rows(spans: Sequence[Span]) -> list[list[Span]]:
    """Cluster words by baseline over the whole width of the page, from the top down.

    Long words found the rows, because signs and formulas may stand off the baseline.
    """
    bases: list[float] = []
    rows: list[list[Span]] = []
    for span in sorted(spans, key=lambda s: s.x0 - s.x1):
        at = bisect_left(bases, span.base)
        near = [i for i in (at - 1, at) if 0 <= i < len(bases) and _level(rows[i][0], span)]
        if near:
            rows[min(near, key=lambda i: abs(bases[i] - span.base))].append(span)
        else:
            bases.insert(at, span.base)
            rows.insert(at, [span])
    return _with_scripts(rows)


def _level(one: Span, other: Span) -> bool:
    small, large = sorted((one, other), key=lambda span: span.size)
    # A drop capital stands on the baseline of the last row beside it.
    initial = is_capital(large.text) and small.size < _INITIAL * large.size
    return not initial and abs(one.base - other.base) < 0.36 * small.size


def is_capital(text: str) -> bool:
    """Whether a word is one capital letter."""
    return len(text) == 1 and text.isalpha() and text.isupper()


def _with_scripts(rows: list[list[Span]]) -> list[list[Span]]:
    """Put small words that stand close after a larger one, a little off its baseline, into its row.

    They are exponents, indices and marks of footnotes that the file draws on their own.
    """
    for number, row in enumerate(rows):
        if len(row) > 4 or any(len(s.text) > 4 for s in row):
            continue
        for span in list(row):
            hosts = [
                (abs(other.base - span.base), near)
                for near in range(max(0, number - 3), min(len(rows), number + 4))
                if near != number
                for other in rows[near]
                if _is_script(span, other)
            ]
            if hosts:
                row.remove(span)
                rows[min(hosts)[1]].append(span)
    return [row for row in rows if row]


def _is_script(small: Span, large: Span) -> bool:
    if small.size >= 0.87 * large.size or abs(small.base - large.base) > 0.75 * large.size:
        return False
    if small.x0 > large.x0:
        return -1.5 * small.size < small.x0 - large.x1 < 0.3 * large.size
    return -0.2 * large.size < large.x0 - small.x1 < 0.35 * large.size


def _walled(gap: _Gap, span: Span, walls: Sequence[Box]) -> bool:
    """Whether an upright ruling stands in the gap before ``span``."""
    middle = span.base - 0.3 * span.size
    return any(gap.left - 1 <= w.x0 <= gap.right + 1 and w.y0 <= middle <= w.y1 for w in walls)


def _cut(rows: Sequence[_Row], number: int, line: Sequence[Span], gap: _Gap) -> bool:
    """Whether the line ends at ``gap``."""
    size = gap.size
    if gap.width <= _WORD_GAP * size:
        return False
    if len(line) == 1 and _MARKER.match(line[0].text) and gap.width < 3 * size:
        return False
    if gap.width > _WIDE_GAP * size:
        return not (gap.width < _WIDEST * size and _amid_paragraph(rows, number, gap))
    clear, aligned = _corridor(rows, number, gap)
    needed = 4 if gap.width < size else 2 if gap.width < 1.6 * size else 1
    return clear >= needed or (clear >= 2 and aligned >= 2)


def _amid_paragraph(rows: Sequence[_Row], number: int, gap: _Gap) -> bool:
    """Whether closely set words run across the whole of ``gap`` both above and below it."""
    for step in (-1, 1):
        at = number + step
        white = gap.width
        while 0 <= at < len(rows) and abs(rows[at].base - rows[number].base) < 1.7 * gap.size:
            white = _widest_white(rows[at], gap)
            if white < _WORD_GAP * gap.size:
                break
            at += step
        if white >= _WORD_GAP * gap.size:
            return False
    return True


def _widest_white(row: _Row, gap: _Gap) -> float:
    """Width of the widest white that a row leaves within ``gap``."""
    widest, end = 0.0, gap.left
    for span in row.spans:
        if span.x1 > gap.left and span.x0 < gap.right:
            widest = max(widest, span.x0 - end)
            end = max(end, span.x1)
    return max(widest, gap.right - end)


def _corridor(rows: Sequence[_Row], number: int, gap: _Gap) -> tuple[int, int]:
    """Rows above and below that leave a gap white and have words on both its sides.

    Returns:
        How many such rows there are, up to four each way, and in how many of them the word right
        of the gap begins where ours does.
    """
    clear = aligned = 0
    for step in (-1, 1):
        for both, start in _white_rows(rows, number, step, gap):
            clear += both
            aligned += both and abs(start - gap.right) < 0.15 * gap.size
    return clear, aligned


def _white_rows(
    rows: Sequence[_Row], number: int, step: int, gap: _Gap
) -> Iterator[tuple[bool, float]]:
    """Walk away from a gap until a row closes it.

    Yields:
        For each row, whether it has words on both sides, and where the right one begins.
    """
    left, right, size = gap
    base = rows[number].base
    at, seen = number + step, 0
    while 0 <= at < len(rows) and seen < 4 and abs(rows[at].base - base) < _PITCH * size:
        row = rows[at]
        after = bisect_left(row.starts, (left + right) / 2)
        # The white of this row around the middle of ours.
        end = max(row.ends[:after], default=float("-inf"))
        start = row.starts[after] if after < len(row.starts) else float("inf")
        near_left = left - end < _REACH * size
        near_right = start - right < _REACH * size
        if near_left or near_right:
            left, right = max(left, end), min(right, start)
            if right - left < _CLEAR * size:
                return
            both = near_left and near_right
            seen += both
            base = row.base
            yield both, start
        at += step
