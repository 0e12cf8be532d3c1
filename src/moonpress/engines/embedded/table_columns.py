"""Columns of text by the white gutters between them.

Owns chunks (words that belong together on one line) and gutters. Never looks at ruling lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.table_cells import Token, is_number, joined
from moonpress.engines.embedded.types import Box

_CURRENCY = frozenset("$€£¥")
_TRAILING = frozenset({"%", ")", ")%", "*", "**", "***", "†", "‡"})


class Chunk(NamedTuple):
    """Words of one line with no wide gap between them."""

    box: Box
    tokens: tuple[Token, ...]
    row: int

    @property
    def text(self) -> str:
        """Its words."""
        return joined(self.tokens)


def chunks_of(
    rows: Sequence[Sequence[Token]], gap: float, walls: Sequence[Box] = ()
) -> list[Chunk]:
    """Part each row of tokens where white wider than ``gap`` letter sizes, or a wall, lies.

    ``walls`` are vertical lines. A currency sign goes with the figure after it and a percent sign
    with the one before, however far: accounts set them apart.
    """
    chunks = []
    for index, row in enumerate(rows):
        current: list[Token] = []
        for token in row:
            if current and (_parted(current, token, gap) or _walled(current[-1], token, walls)):
                chunks.append(_chunk(current, index))
                current = []
            current.append(token)
        if current:
            chunks.append(_chunk(current, index))
    return chunks


def _parted(current: Sequence[Token], token: Token, gap: float) -> bool:
    last = current[-1]
    white = token.box.x0 - last.box.x1
    if white <= gap * min(last.size, token.size):
        return False
    if len(current) == 1 and last.text in _CURRENCY and token.text[0] in "0123456789(-–—":
        return False
    return not (token.text in _TRAILING and is_number(last.text) and white < 2 * token.size)


def _walled(last: Token, token: Token, walls: Sequence[Box]) -> bool:
    slack = token.size / 4
    return any(
        last.box.x1 - slack <= (w.x0 + w.x1) / 2 <= token.box.x0 + slack
        and w.y0 <= token.middle <= w.y1
        for w in walls
    )


def _chunk(tokens: Sequence[Token], row: int) -> Chunk:
    box = tokens[0].box
    for token in tokens[1:]:
        box = box.union(token.box)
    return Chunk(box, tuple(tokens), row)


def gutters(
    chunks: Sequence[Chunk], x0: float, x1: float, size: float, *, strict: bool = False
) -> list[float]:
    """Positions between ``x0`` and ``x1`` that part columns of ``chunks``.

    A gutter is a strip of white at least half a letter wide. A few rows may run across it: headings
    over several columns, notes. Both sides must carry text in at least two rows, or in all rows
    when there are fewer. ``strict`` is for areas that lines already part: a gutter must be wide,
    run through, and have text on both sides in three rows.
    """
    # Boxes of scanned words reach a little over the lines beside them.
    slack = size / 2
    inside = [c for c in chunks if c.box.x1 > x0 + slack and c.box.x0 < x1 - slack]
    rows = len({c.row for c in inside})
    width = int(x1 - x0)
    if rows == 0 or width < 2:
        return []
    crossing = _coverage(inside, x0, width)
    narrowest = size * (1.2 if strict else 0.5)
    least = 3 if strict else min(2, rows)
    found: list[float] = []
    for level in range(1 if strict else _crossings_allowed(rows) + 1):
        for start, end in _runs(crossing <= level):
            if start == 0 or end == width or end - start < narrowest * (1 if level == 0 else 1.25):
                continue
            middle = x0 + (start + end) / 2
            # A column needs more entries than there are rows that run across its edge.
            new = all(_between(inside, *sorted((f, middle))) > level for f in found)
            if new and _rows_beside(inside, middle) >= least:
                found.append(middle)
    return _without_headings(sorted(found), inside)


def _without_headings(found: list[float], chunks: Sequence[Chunk]) -> list[float]:
    """Gutters without those on both sides of a lone heading: it stands over the gap of others."""
    rows = sorted({c.row for c in chunks})
    kept: list[float] = []
    for x in found:
        lone = [c for c in chunks if kept and kept[-1] < c.box.x0 and c.box.x1 < x]
        if len(rows) >= 4 and len(lone) == 1 and lone[0].row in rows[:2]:
            kept[-1] = (lone[0].box.x0 + lone[0].box.x1) / 2
        else:
            kept.append(x)
    return kept


def _between(chunks: Sequence[Chunk], left: float, right: float) -> int:
    return sum(left < c.box.x0 and c.box.x1 < right for c in chunks)


def _coverage(chunks: Sequence[Chunk], x0: float, width: int) -> npt.NDArray[np.int32]:
    """How many chunks lie over each pixel from ``x0`` on."""
    steps = np.zeros(width + 2, dtype=np.int32)
    for chunk in chunks:
        start = int(min(max(chunk.box.x0 - x0, 0), width))
        end = int(min(max(chunk.box.x1 - x0, 0), width))
        steps[start] += 1
        steps[max(end, start + 1)] -= 1
    return np.cumsum(steps, dtype=np.int32)[:width]


def _crossings_allowed(rows: int) -> int:
    if rows <= 2:
        return 0
    return max(1, min(rows // 4, 6))


def _runs(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _rows_beside(chunks: Sequence[Chunk], x: float) -> int:
    """How many chunks on one side of ``x`` have text beside them, on the side with fewer.

    A cell over two rows stands between the lines of its neighbours, so touching is enough.
    """

    def heights(boxes: Sequence[Box]) -> npt.NDArray[np.float64]:
        slack = [b.height / 8 for b in boxes]
        pairs = [(b.y0 - s, b.y1 + s) for b, s in zip(boxes, slack, strict=True)]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2)

    left = heights([c.box for c in chunks if c.box.x1 <= x])
    right = heights([c.box for c in chunks if c.box.x0 >= x])
    beside = np.minimum(left[:, None, 1], right[None, :, 1]) > np.maximum(
        left[:, None, 0], right[None, :, 0]
    )
    if not beside.size:
        return 0
    return int(min(beside.any(axis=1).sum(), beside.any(axis=0).sum()))
