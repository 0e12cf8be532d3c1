"""Lines mended: torn at a wide gap inside a column, or running on over the gutter between two.

Owns telling a gap inside justified text from a gutter. Never looks at what the text says.

A gutter goes on above and below; in the gap of a stretched line the neighbouring lines have text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.drafts import around, same_row
from moonpress.engines.embedded.types import Box, Line

# Widest gap that is looked at, and how far away a neighbouring line may be; in line heights.
_WIDEST = 5.0
_REACH = 1.3
# Rows above and below that are asked about a narrow gutter, and how many lines must agree.
_ROWS = 10
_WITNESSES = 5
# Line heights from which a gap is wider than a word space.
_WIDE = 1.2

_Gap: TypeAlias = tuple[float, float]


def join_pieces(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines, with those pieces joined that stand in one row of one column."""
    if len(lines) < 3:
        return tuple(lines)
    boxes = np.array([line.box for line in lines], dtype=np.float64)
    result: list[Line] = []
    ends: dict[int, int] = {}
    for k in np.argsort(boxes[:, 0], kind="stable").tolist():
        line = lines[k]
        left = _left_neighbour(k, lines, boxes)
        if left is not None and left in ends and _torn(left, k, boxes):
            place = ends.pop(left)
            result[place] = _joined(result[place], line)
        else:
            place = len(result)
            result.append(line)
        ends[k] = place
    return tuple(result)


def split_at_gutters(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines, with those parted that run on over a gutter, wide or narrow."""
    boxes = np.array([line.box for line in lines], dtype=np.float64).reshape(-1, 4)
    result: list[Line] = []
    for line in lines:
        place = _gutter_in(line, boxes)
        result.extend(_parted(line, place) if place else [line])
    return tuple(result)


def _gutter_in(line: Line, boxes: npt.NDArray[np.float64]) -> int:
    """Index of the word after the gutter; 0 where the line crosses none."""
    # Raised and lowered letters make the box of a line higher than its letters.
    height = min(line.box.height, line.size or line.box.height)
    gaps = [(a.box.x1, b.box.x0) for a, b in pairwise(line.words)]
    widest = max(gaps, key=_width, default=(0.0, 0.0))
    if _width(widest) >= _WIDE * height:
        return gaps.index(widest) + 1 if _is_gutter(widest, line.box, height, boxes) else 0
    for place, gap in enumerate(gaps, start=1):
        if _is_narrow_gutter(gap, line.box, height, boxes):
            return place
    return 0


def _width(gap: _Gap) -> float:
    return gap[1] - gap[0]


def _is_gutter(gap: _Gap, row: Box, height: float, boxes: npt.NDArray[np.float64]) -> bool:
    """Whether no row close by has text in a wide gap, and one has text on both its sides."""
    left, right = gap
    parted = 0
    for beside in _beside(row, height, boxes):
        if np.any((beside[:, 0] < left) & (beside[:, 2] > right)):
            return False
        # The last line of a paragraph is short: the gutter is just before the next column.
        parted += _both_sides(beside, row.x0, right - 0.2 * height, row.x1)
    return parted > 0


def _is_narrow_gutter(gap: _Gap, row: Box, height: float, boxes: npt.NDArray[np.float64]) -> bool:
    """Whether a gap is a gutter as narrow as a word space.

    Such a gutter shows only in the lines around: several end before it, several begin after it, and
    hardly any runs over it. A recogniser joins a few lines over it all the same.
    """
    left, right = gap
    heights = boxes[:, 3] - boxes[:, 1]
    alike = (heights > 0.6 * row.height) & (heights < 1.6 * row.height)
    above, below = row.y0 - _ROWS * height, row.y1 + _ROWS * height
    rows = boxes[alike & (boxes[:, 3] > above) & (boxes[:, 1] < below)]
    ending = int(np.sum(np.abs(rows[:, 2] - left) < 0.8 * height))
    starting = int(np.sum(np.abs(rows[:, 0] - right) < 0.5 * height))
    over = int(np.sum((rows[:, 0] < left - height) & (rows[:, 2] > right + height)))
    return min(ending, starting) >= _WITNESSES and min(ending, starting) > 2 * over


def _parted(line: Line, place: int) -> list[Line]:
    parts = []
    for words in (line.words[:place], line.words[place:]):
        box = around(word.box for word in words)
        text = " ".join(word.text for word in words)
        parts.append(replace(line, box=box, text=text, words=words))
    return parts


def _beside(
    box: Box, height: float, boxes: npt.NDArray[np.float64]
) -> list[npt.NDArray[np.float64]]:
    """Boxes of the rows close above and close below ``box``."""
    bottoms, tops = boxes[:, 3], boxes[:, 1]
    above = (bottoms < box.y0 + 0.5 * height) & (bottoms > box.y0 - _REACH * height)
    below = (tops > box.y1 - 0.5 * height) & (tops < box.y1 + _REACH * height)
    return [boxes[above], boxes[below]]


def _left_neighbour(k: int, lines: Sequence[Line], boxes: npt.NDArray[np.float64]) -> int | None:
    """The nearest piece to the left in the same row, if it is near."""
    x0, y0, _, y1 = boxes[k]
    height = y1 - y0
    gaps = x0 - boxes[:, 2]
    near = np.flatnonzero(
        (gaps > -0.3 * height) & (gaps < _WIDEST * height) & (boxes[:, 1] < y1) & (boxes[:, 3] > y0)
    )
    same = [
        i
        for i in near.tolist()
        if i != k and boxes[i, 0] < x0 and same_row(lines[i].box, lines[k].box)
    ]
    return min(same, key=lambda i: float(gaps[i]), default=None)


def _torn(left: int, right: int, boxes: npt.NDArray[np.float64]) -> bool:
    """Whether the rows above and below run on over the gap between two pieces."""
    a, b = boxes[left], boxes[right]
    height = min(a[3] - a[1], b[3] - b[1])
    if max(a[3] - a[1], b[3] - b[1]) > 2.0 * height:
        return False
    gap, middle = (a[2], b[0]), (a[2] + b[0]) / 2
    row = Box(a[0], min(a[1], b[1]), b[2], max(a[3], b[3]))
    if _width(gap) >= _WIDE * height:
        gutter = _is_gutter(gap, row, height, boxes)
    else:
        # What is narrower than this is the mark of a list's item, whose texts begin at one place.
        gutter = a[2] - a[0] > 2 * height and _is_narrow_gutter(gap, row, height, boxes)
    if gutter:
        return False
    crossed = 0
    for beside in _beside(row, height, boxes):
        if np.any((beside[:, 0] < a[2] - height) & (beside[:, 2] > b[0] + height)):
            crossed += 1
        elif _both_sides(beside, a[0], middle, b[2]):
            return bool(b[0] - a[2] < 1.3 * height) and _is_river(a, b, height, boxes)
    return crossed > 0 or bool(b[0] - a[2] < 0.6 * height)


def _is_river(
    a: npt.NDArray[np.float64],
    b: npt.NDArray[np.float64],
    height: float,
    boxes: npt.NDArray[np.float64],
) -> bool:
    """Whether text closes the gap again within three rows, above and below."""
    over = boxes[(boxes[:, 0] < a[2] - height) & (boxes[:, 2] > b[0] + height)]
    above = over[over[:, 3] < a[1] + 0.5 * height]
    below = over[over[:, 1] > a[3] - 0.5 * height]
    if not len(above) or not len(below):
        return False
    return bool(below[:, 1].min() - above[:, 3].max() < 4.0 * height)


def _both_sides(beside: npt.NDArray[np.float64], left: float, middle: float, right: float) -> bool:
    """Whether the gap goes on there: text on both sides of its middle, and none over it."""
    if np.any((beside[:, 0] < middle) & (beside[:, 2] > middle)):
        return False
    on_left = (beside[:, 2] <= middle) & (beside[:, 2] > left)
    on_right = (beside[:, 0] >= middle) & (beside[:, 0] < right)
    return bool(np.any(on_left) and np.any(on_right))


def _joined(left: Line, right: Line) -> Line:
    long = left if len(left.text) >= len(right.text) else right
    letters = len(left.text) + len(right.text)
    confidence = left.confidence * len(left.text) + right.confidence * len(right.text)
    return replace(
        long,
        box=left.box.union(right.box),
        text=f"{left.text.rstrip()} {right.text.lstrip()}",
        confidence=confidence / max(letters, 1),
        words=left.words + right.words,
    )
