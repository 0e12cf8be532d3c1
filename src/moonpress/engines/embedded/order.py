"""Reading order of blocks on a page.

Owns the order, by geometry alone. Never merges, drops or renames blocks.

The page is cut along white space, recursively. It is first sliced at every white strip that runs
from left to right. Neighbouring slices stay together as long as they have a gutter in common: a
white strip with text on both sides in at least one of them. Such a band is then parted at its
gutters into columns, which are read left to right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.types import Box

# Above this many blocks that no cut parts, the work would grow beyond what a page is worth.
_MOST_PRECEDENCES = 400

_Strip = tuple[float, float]


def reading_order(boxes: Sequence[Box], gutter: float) -> list[int]:
    """Indexes of ``boxes`` in reading order.

    Args:
        boxes: Boxes in pixels.
        gutter: Least width in pixels of the white strip between two columns.
    """
    order: list[int] = []
    _cut(list(range(len(boxes))), boxes, gutter, order)
    return order


def _cut(members: list[int], boxes: Sequence[Box], gutter: float, order: list[int]) -> None:
    if len(members) < 2:
        order.extend(members)
        return
    parts = _bands(members, boxes, gutter)
    if len(parts) < 2:
        parts = _columns(members, boxes, gutter)
    if len(parts) < 2:
        order.extend(_by_precedence(members, boxes))
        return
    for part in parts:
        _cut(part, boxes, gutter, order)


def _columns(members: list[int], boxes: Sequence[Box], gutter: float) -> list[list[int]]:
    """Part by gutters, from left to right."""
    spans = sorted((boxes[i].x0, boxes[i].x1, i) for i in members)
    parts, end = [[spans[0][2]]], spans[0][1]
    for left, right, i in spans[1:]:
        if left - end >= gutter:
            parts.append([i])
        else:
            parts[-1].append(i)
        end = max(end, right)
    return parts


def _bands(members: list[int], boxes: Sequence[Box], gutter: float) -> list[list[int]]:
    """Slice by white strips across, then join slices that have a gutter in common."""
    bands: list[list[int]] = []
    shared: list[_Strip] = []
    for part in _slices(members, boxes):
        strips = _strips(part, boxes, gutter)
        inner = strips[1:-1]
        if bands and shared:
            common = _common(shared, strips, gutter)
        elif bands and inner and _fills_column(bands[-1], inner, boxes):
            common = _common(inner, _strips(bands[-1], boxes, gutter), gutter)
        else:
            common = []
        if common and not _grid(bands[-1], part, boxes, common, 4 * gutter):
            bands[-1].extend(part)
            shared = common
        else:
            bands.append(part)
            shared = inner
    return bands


def _fills_column(above: list[int], gutters: list[_Strip], boxes: Sequence[Box]) -> bool:
    """Whether what stands alone above columns is the head of one of them, and no short line."""
    left, right = min(boxes[i].x0 for i in above), max(boxes[i].x1 for i in above)
    height = max(boxes[i].y1 for i in above) - min(boxes[i].y0 for i in above)
    return height > 0.15 * (right - left) and any(left >= strip[0] for strip in gutters)


def _slices(members: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    spans = sorted((boxes[i].y0, boxes[i].y1, i) for i in members)
    parts, end = [[spans[0][2]]], spans[0][1]
    for top, bottom, i in spans[1:]:
        # Boxes of neighbouring lines touch or overlap by a hair.
        if top >= end - min(2.0, 0.1 * (bottom - top)):
            parts.append([i])
        else:
            parts[-1].append(i)
        end = max(end, bottom)
    return parts


def _strips(members: list[int], boxes: Sequence[Box], gutter: float) -> list[_Strip]:
    """White strips of a slice, with the open margins left and right of it."""
    spans = sorted((boxes[i].x0, boxes[i].x1) for i in members)
    strips: list[_Strip] = [(float("-inf"), spans[0][0])]
    end = spans[0][1]
    for left, right in spans[1:]:
        if left - end >= gutter:
            strips.append((end, left))
        end = max(end, right)
    strips.append((end, float("inf")))
    return strips


def _common(gutters: list[_Strip], strips: list[_Strip], gutter: float) -> list[_Strip]:
    """What is left of ``gutters`` where ``strips`` are white too."""
    result = []
    for a in gutters:
        for b in strips:
            low, high = max(a[0], b[0]), min(a[1], b[1])
            if high - low >= gutter:
                result.append((low, high))
    return result


def _grid(
    above: list[int],
    below: list[int],
    boxes: Sequence[Box],
    gutters: list[_Strip],
    least: float,
) -> bool:
    """Whether two slices are rows of a grid rather than columns that run on.

    In a grid the white between rows is wider than between columns and than ``least`` pixels, which
    no break between paragraphs is, and the blocks of a row begin at one height.
    """
    edges = [float("-inf"), *(x for strip in gutters for x in strip), float("inf")]
    tops = []
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        column = [
            boxes[i].y0 for i in below if boxes[i].x0 >= left - 1 and boxes[i].x1 <= right + 1
        ]
        if not column:
            return False
        tops.append(min(column))
    white = min(tops) - max(boxes[i].y1 for i in above)
    widest = max(right - left for left, right in gutters)
    first = min((boxes[i] for i in below), key=lambda box: box.y0)
    return white > max(1.2 * widest, least) and max(tops) - min(tops) < 0.3 * first.height


def _by_precedence(members: list[int], boxes: Sequence[Box]) -> list[int]:
    """Order blocks that no straight cut parts (after Breuel, 2003).

    A block comes before what lies below it in its own column, and before what lies to its right
    unless something between the two spans both.
    """
    ranked = sorted(members, key=lambda k: (boxes[k].y0, boxes[k].x0))
    if len(ranked) > _MOST_PRECEDENCES:
        return ranked
    before = _precedences(np.array([boxes[k] for k in ranked], dtype=np.float64))
    order: list[int] = []
    seen: set[int] = set()

    def visit(node: int) -> None:
        if node in seen:
            return
        seen.add(node)
        for other in np.flatnonzero(before[:, node]).tolist():
            visit(other)
        order.append(node)

    for node in range(len(ranked)):
        visit(node)
    return [ranked[node] for node in order]


def _precedences(boxes: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """(N, N) bool: whether block ``i`` comes before block ``j``."""
    x0, y0, x1, y1 = boxes.T
    widths = np.minimum.outer(x1 - x0, x1 - x0)
    shared = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0) > 0.1 * widths
    middles = y0 + y1
    above = np.less.outer(middles, middles)
    spanned = np.zeros_like(shared)
    for left, right, middle in zip(x0, x1, middles, strict=True):
        beside = (x0 < right) & (x1 > left)
        higher, lower = middles < middle, middles > middle
        between = np.logical_and.outer(higher, lower)
        spanned |= (between | between.T) & np.logical_and.outer(beside, beside)
    to_left = np.less_equal.outer(x1, x1) & ~np.eye(len(x0), dtype=bool)
    result: npt.NDArray[np.bool_] = np.where(shared, above, to_left & ~spanned)
    return result
