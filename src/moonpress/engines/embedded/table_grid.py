"""The grid of a table from its ruling lines, completed by white gutters and by lines of text.

Owns boundaries, the walls on them, and the merging of what no wall parts. Never reads pixels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.table_cells import (
    Cell,
    Grid,
    Token,
    is_figure,
    is_number,
    text_rows,
)
from moonpress.engines.embedded.table_columns import Chunk, chunks_of, gutters
from moonpress.engines.embedded.table_rows import has_figures, row_cuts, rows_are_lines
from moonpress.engines.embedded.table_rules import Rules, clusters
from moonpress.engines.embedded.types import Box

_COVERED = 0.5
_GAP = 1.0


@dataclass(frozen=True, slots=True)
class Scene:
    """What stands in the box of a table.

    Attributes:
        box: In pixels.
        tokens: Its words.
        rules: Its ruling lines.
        size: Usual letter size in pixels.
        tolerance: How far lines may be apart that are meant to meet.
    """

    box: Box
    tokens: tuple[Token, ...]
    rules: Rules
    size: float
    tolerance: float


class _Walls(NamedTuple):
    """Whether unit cells are parted to the right, (R, C-1), and below, (R-1, C)."""

    right: npt.NDArray[np.bool_]
    below: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Positions that part columns (or rows); ``ruled`` tells which of them a line runs on."""

    at: tuple[float, ...]
    ruled: tuple[bool, ...]


def scene_of(box: Box, tokens: Sequence[Token], rules: Rules, tolerance: float) -> Scene:
    """Gather a table's words and lines; its box grows to what sticks out of it."""
    for token in tokens:
        box = box.union(token.box)
    size = float(np.median([t.size for t in tokens])) if tokens else 2 * tolerance
    return Scene(box, tuple(tokens), rules, size, tolerance)


def build(scene: Scene) -> Grid | None:
    """Make a grid of lines, gutters and rows of text; ``None`` where nothing parts the words."""
    rows = text_rows(scene.tokens)
    if not rows:
        return None
    chunks = chunks_of(rows, _GAP, scene.rules.vertical)
    xs = _columns(scene, chunks)
    ys = _rows(scene, xs)
    if len(xs.at) < 3 and len(ys.at) < 3:
        return None
    return _grid(_merged(_walls(scene, chunks, xs, ys)), xs.at, ys.at)


def _columns(scene: Scene, chunks: Sequence[Chunk]) -> Boundaries:
    box, verticals = scene.box, scene.rules.vertical
    fixed = _fixed(
        (((v.x0 + v.x1) / 2, v.height) for v in verticals),
        box.x0,
        box.x1,
        scene.tolerance,
        scene.size,
    )
    # Lines on both sides of a narrow strip leave little doubt; a frame alone says nothing.
    strict = sum(fixed.ruled) >= 3
    at, ruled = list(fixed.at), list(fixed.ruled)
    for left, right in zip(fixed.at, fixed.at[1:], strict=False):
        for x in gutters(chunks, left, right, scene.size, strict=strict):
            index = bisect_right(at, x)
            at.insert(index, x)
            ruled.insert(index, False)
    return Boundaries(tuple(at), tuple(ruled))


def _rows(scene: Scene, xs: Boundaries) -> Boundaries:
    box = scene.box
    fixed = _fixed(
        (((h.y0 + h.y1) / 2, h.width) for h in scene.rules.horizontal),
        box.y0,
        box.y1,
        scene.tolerance,
        0.8 * scene.size,
    )
    bands: list[list[Token]] = [[] for _ in range(len(fixed.at) + 1)]
    for token in scene.tokens:
        # Words on a line belong to a cell over both of its sides.
        inset = token.box.height / 4
        if bisect_right(fixed.at, token.box.y0 + inset) == bisect_right(
            fixed.at, token.box.y1 - inset
        ):
            bands[bisect_right(fixed.at, token.middle)].append(token)
    at, ruled = list(fixed.at), list(fixed.ruled)
    ruled_rows = len(fixed.at) > (3 if _is_lattice(xs) else 5)
    figured = [has_figures(band, xs.at) for band in bands]
    for number, band in enumerate(bands):
        if not band or (ruled_rows and not rows_are_lines(band, xs.at)):
            continue
        head = not any(figured[: number + 1]) and any(figured)
        for y in row_cuts(band, xs.at, scene.size, head=head):
            index = bisect_right(at, y)
            at.insert(index, y)
            ruled.insert(index, False)
    return Boundaries(tuple(at), tuple(ruled))


def _fixed(
    lines: Iterable[tuple[float, float]],
    low: float,
    high: float,
    tolerance: float,
    least: float,
) -> Boundaries:
    """Boundaries on lines, with the box's own edges, none closer than ``least``."""
    at, ruled = [low], [False]
    for value in clusters(lines, tolerance, least):
        if value - at[-1] >= least:
            at.append(value)
            ruled.append(True)
        elif len(at) == 1:
            at[0], ruled[0] = value, True
    if high - at[-1] >= least or len(at) == 1:
        at.append(high)
        ruled.append(False)
    return Boundaries(tuple(at), tuple(ruled))


def _walls(scene: Scene, chunks: Sequence[Chunk], xs: Boundaries, ys: Boundaries) -> _Walls:
    """Decide where cells are parted: by a line, or by white where no line runs."""
    widths = _text_widths(chunks, xs)
    right_ruled = _covered(
        scene.rules.vertical, xs.at, list(pairwise(ys.at)), near=scene.tolerance
    ).T
    below_ruled = _covered(
        [Box(h.y0, h.x0, h.y1, h.x1) for h in scene.rules.horizontal],
        ys.at,
        widths,
        near=scene.tolerance,
    )
    text = np.zeros((len(ys.at) - 1, len(xs.at) - 1), dtype=bool)
    for token in scene.tokens:
        text[_slot(ys.at, token.middle), _slot(xs.at, (token.box.x0 + token.box.x1) / 2)] = True
    inner_x = np.array(xs.ruled[1:-1], dtype=bool)[None, :]
    inner_y = np.array(ys.ruled[1:-1], dtype=bool)[:, None]
    if _is_lattice(xs):
        # A line that runs elsewhere and stops here leaves one cell on both sides.
        open_x = inner_x & ~(text[:, :-1] & text[:, 1:])
        open_y = np.broadcast_to(inner_y, below_ruled.shape)
    else:
        open_x = np.zeros_like(right_ruled)
        open_y = inner_y & _headers(scene, xs, ys)[:-1, None] & (text[:-1] != text[1:])
    walls = _Walls(right_ruled | ~open_x, below_ruled | ~open_y)
    for chunk in chunks:
        _open_across(chunk, scene, (xs.at, ys.at), _Walls(right_ruled, below_ruled), walls)
    _open_headings(scene, (widths, ys.at), text, right_ruled, walls)
    if not _is_lattice(xs):
        _open_centred(chunks, (widths, ys.at), text & _headers(scene, xs, ys)[:, None], walls)
    return walls


def _is_lattice(xs: Boundaries) -> bool:
    return sum(xs.ruled) >= 2


def _headers(scene: Scene, xs: Boundaries, ys: Boundaries) -> npt.NDArray[np.bool_]:
    """Rows above the first one with figures, (R,); none when there are no figures at all."""
    figures: list[int] = [0] * (len(ys.at) - 1)
    others: list[int] = [0] * (len(ys.at) - 1)
    for token in scene.tokens:
        row, column = _slot(ys.at, token.middle), _slot(xs.at, token.box.x0)
        if column and is_figure(token.text):
            figures[row] += 1
        elif column:
            others[row] += 1
    first = next((k for k, n in enumerate(figures) if n > others[k]), 0)
    return np.arange(len(figures)) < first


def _text_widths(chunks: Sequence[Chunk], xs: Boundaries) -> list[tuple[float, float]]:
    """Left and right of each column; where no line bounds it, of the words that stand in it.

    Lines under headings are as long as the words are wide, not as wide as the white around them.
    """
    widths = []
    for column, (left, right) in enumerate(pairwise(xs.at)):
        inside = [c.box for c in chunks if c.box.x0 >= left and c.box.x1 <= right]
        if inside and not (xs.ruled[column] and xs.ruled[column + 1]):
            widths.append((min(b.x0 for b in inside), max(b.x1 for b in inside)))
        else:
            widths.append((left, right))
    return widths


def _covered(
    lines: Sequence[Box],
    across: Sequence[float],
    along: Sequence[tuple[float, float]],
    *,
    near: float,
) -> npt.NDArray[np.bool_]:
    """Which sides of unit cells an upright line covers for more than half.

    Args:
        lines: Upright lines.
        across: Positions of the boundaries that lines may run on, outer ones included.
        along: Intervals that a line may cover.
        near: How far a line may be off its boundary.

    Returns:
        (inner boundaries, intervals).
    """
    covered = np.zeros((len(across) - 2, len(along)))
    for line in lines:
        position = (line.x0 + line.x1) / 2
        side = min(range(len(across)), key=lambda k: abs(across[k] - position))
        # Lines close together share one boundary, which may lie a little off each of them.
        if not 0 < side < len(across) - 1 or abs(across[side] - position) > 3 * near:
            continue
        for index, (start, end) in enumerate(along):
            shared = min(line.y1, end) - max(line.y0, start)
            covered[side - 1, index] += max(shared, 0.0) / max(end - start, 1.0)
    return covered > _COVERED


def _open_across(
    chunk: Chunk,
    scene: Scene,
    at: tuple[Sequence[float], Sequence[float]],
    ruled: _Walls,
    walls: _Walls,
) -> None:
    """Take away walls without a line that a run of words stands across."""
    xs, ys = at
    slack = scene.size / 3
    row = _slot(ys, (chunk.box.y0 + chunk.box.y1) / 2)
    for index in range(1, len(xs) - 1):
        if chunk.box.x0 + slack < xs[index] < chunk.box.x1 - slack and _runs_over(
            chunk, xs[index], scene.size
        ):
            walls.right[row, index - 1] &= ruled.right[row, index - 1]
    slack = chunk.box.height / 4
    column = _slot(xs, (chunk.box.x0 + chunk.box.x1) / 2)
    for index in range(1, len(ys) - 1):
        if chunk.box.y0 + slack < ys[index] < chunk.box.y1 - slack:
            walls.below[index - 1, column] &= ruled.below[index - 1, column]


def _runs_over(chunk: Chunk, x: float, size: float) -> bool:
    """Whether words run over ``x`` rather than leave a gap there beside a figure."""
    for left, right in zip(chunk.tokens, chunk.tokens[1:], strict=False):
        if left.box.x1 <= x <= right.box.x0:
            wide = right.box.x0 - left.box.x1 >= size / 2
            return not (wide and (is_number(left.text) or is_number(right.text)))
    return True


def _open_headings(
    scene: Scene,
    at: tuple[Sequence[tuple[float, float]], Sequence[float]],
    text: npt.NDArray[np.bool_],
    ruled: npt.NDArray[np.bool_],
    walls: _Walls,
) -> None:
    """Let a heading span the columns of the short line below it."""
    widths, ys = at
    for line in scene.rules.horizontal:
        row = min(range(len(ys)), key=lambda k: abs(ys[k] - (line.y0 + line.y1) / 2)) - 1
        if not 0 <= row < len(ys) - 2:
            continue
        under = [
            column
            for column, (left, right) in enumerate(widths)
            if min(line.x1, right) - max(line.x0, left) > _COVERED * (right - left)
        ]
        if not 1 < len(under) < len(widths):
            continue
        sides = slice(under[0], under[-1])
        parted = int((walls.right[row, sides] & (text[row, 1:] & text[row, :-1])[sides]).sum())
        filled = int(text[row, under[0] : under[-1] + 1].sum())
        if filled and not parted and (filled == 1 or not walls.right[row, sides].all()):
            walls.right[row, sides] &= ruled[row, sides]


def _open_centred(
    chunks: Sequence[Chunk],
    at: tuple[Sequence[tuple[float, float]], Sequence[float]],
    text: npt.NDArray[np.bool_],
    walls: _Walls,
) -> None:
    """Let the only heading of a row span all columns but the first where it stands amid them."""
    widths, ys = at
    if len(widths) < 4:
        return
    middle = (widths[1][0] + widths[-1][1]) / 2
    for chunk in chunks:
        row = _slot(ys, (chunk.box.y0 + chunk.box.y1) / 2)
        alone = text[row, 1:].sum() == 1 and not text[row, 0]
        off = abs((chunk.box.x0 + chunk.box.x1) / 2 - middle)
        if alone and off < chunk.box.height / 2:
            walls.right[row, 1:] = False


def _slot(at: Sequence[float], value: float) -> int:
    """Index of the interval of ``at`` that holds ``value``, clamped."""
    return min(max(bisect_right(at, value) - 1, 0), len(at) - 2)


def _merged(walls: _Walls) -> list[tuple[int, int, int, int]]:
    """Rectangles (row, column, end row, end column) of unit cells that no wall parts.

    Openings that would make other shapes than rectangles take more unit cells in.
    """
    rows, columns = walls.right.shape[0], walls.below.shape[1]
    boxes = [(r, c, r + 1, c + 1) for r in range(rows) for c in range(columns)]
    owner = {(r, c): r * columns + c for r in range(rows) for c in range(columns)}
    joins = [(r * columns + c, r * columns + c + 1) for r, c in np.argwhere(~walls.right)]
    joins += [(r * columns + c, (r + 1) * columns + c) for r, c in np.argwhere(~walls.below)]
    pending = [(divmod(int(a), columns), divmod(int(b), columns)) for a, b in joins]
    while pending:
        first, second = pending.pop()
        a, b = boxes[owner[first]], boxes[owner[second]]
        if a == b:
            continue
        box = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
        index = owner[first]
        inside = [(r, c) for r in range(box[0], box[2]) for c in range(box[1], box[3])]
        pending += [(first, unit) for unit in inside if boxes[owner[unit]] not in (a, b)]
        boxes[index] = box
        for unit in inside:
            if owner[unit] == index or boxes[owner[unit]] in (a, b):
                owner[unit] = index
    return sorted({boxes[i] for i in owner.values()})


def _grid(
    rectangles: Sequence[tuple[int, int, int, int]], xs: Sequence[float], ys: Sequence[float]
) -> Grid:
    """Number rows and columns anew without those that no cell begins in."""
    starts_y = sorted({r[0] for r in rectangles})
    starts_x = sorted({r[1] for r in rectangles})
    cells = []
    for top, left, bottom, right in rectangles:
        row, column = starts_y.index(top), starts_x.index(left)
        cells.append(
            Cell(
                row,
                column,
                sum(top <= y < bottom for y in starts_y),
                sum(left <= x < right for x in starts_x),
                Box(xs[left], ys[top], xs[right], ys[bottom]),
            )
        )
    return Grid(len(starts_y), len(starts_x), tuple(cells))
