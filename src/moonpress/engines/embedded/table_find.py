"""Places on a page where a table may be.

Owns candidates: areas of crossing lines, stacks of horizontal lines, blocks of aligned words. Never
decides that a candidate is a table; see `table_gate`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.table_cells import Token, is_figure, text_rows
from moonpress.engines.embedded.table_columns import Chunk, chunks_of
from moonpress.engines.embedded.table_rules import Rules
from moonpress.engines.embedded.types import Box, Line

_PROSE_WORDS = 8
_PROSE_WIDTH = 18
_MOST = 0.6


def ruled_areas(rules: Rules, tolerance: float) -> list[Box]:
    """Boxes around horizontal and vertical lines that touch each other."""
    boxes = [*rules.horizontal, *rules.vertical]
    if not rules.horizontal or not rules.vertical:
        return []
    array = np.array(boxes)
    grown = array + np.array([-tolerance, -tolerance, tolerance, tolerance])
    touching = (
        (grown[:, None, 0] <= array[None, :, 2])
        & (grown[:, None, 2] >= array[None, :, 0])
        & (grown[:, None, 1] <= array[None, :, 3])
        & (grown[:, None, 3] >= array[None, :, 1])
    )
    flat = np.arange(len(boxes)) < len(rules.horizontal)
    areas = []
    for members in _components(touching):
        # A frame of two by two lines holds one cell only.
        if flat[members].sum() >= 2 and (~flat[members]).sum() >= 2 and len(members) > 4:
            low, high = array[members].min(axis=0), array[members].max(axis=0)
            areas.append(Box(float(low[0]), float(low[1]), float(high[2]), float(high[3])))
    return areas


def _components(touching: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Groups of indexes connected by a (N, N) symmetric relation."""
    left = set(range(len(touching)))
    groups = []
    while left:
        frontier = [left.pop()]
        group = list(frontier)
        while frontier:
            reached = [int(k) for k in np.flatnonzero(touching[frontier.pop()]) if int(k) in left]
            left.difference_update(reached)
            frontier += reached
            group += reached
        groups.append(group)
    return groups


def stacked_areas(rules: Rules, tokens: Sequence[Token], tolerance: float) -> list[Box]:
    """Boxes of horizontal lines of one width above each other with no running text between.

    A page's own head and foot lines, and those above footnotes, have prose between them.
    """
    stacks: list[list[Box]] = []
    for line in sorted(rules.horizontal, key=lambda b: b.y0):
        if line.width < 20 * tolerance:
            continue
        for stack in reversed(stacks):
            last = stack[-1]
            if abs(last.x0 - line.x0) <= 3 * tolerance and abs(last.x1 - line.x1) <= 3 * tolerance:
                if _tabular(last.union(line), tokens):
                    stack.append(line)
                else:
                    stacks.append([line])
                break
        else:
            stacks.append([line])
    return [stack[0].union(stack[-1]) for stack in stacks if len(stack) >= 2]


def _tabular(box: Box, tokens: Sequence[Token]) -> bool:
    """Whether the words in ``box`` are, for most lines, no running text."""
    rows = text_rows(t for t in tokens if t.box.inside(box) > 0.5)
    chunks = chunks_of(rows, 1.0)
    return bool(chunks) and sum(_runs_on(c) for c in chunks) <= 0.2 * len(chunks)


def aligned_areas(tokens: Sequence[Token]) -> list[Box]:
    """Boxes of consecutive rows of short runs of words, two or more side by side."""
    chunks = chunks_of(text_rows(tokens), 1.0)
    segments = _segments(chunks)
    stacks: list[list[list[Chunk]]] = []
    for segment in sorted(segments, key=lambda s: s[0].box.y0):
        above = [stack for stack in stacks[-12:] if _continues(stack, _around(segment))]
        stacks = [stack for stack in stacks if not any(stack is a for a in above)]
        # A row may join a column of labels with a block of figures set between their lines.
        joined = sorted((s for stack in above for s in stack), key=lambda s: s[0].box.y0)
        stacks.append([*joined, segment])
    areas = []
    for stack in stacks:
        while stack and len(stack[0]) < 2:
            stack.pop(0)
        while stack and len(stack[-1]) < 2:
            stack.pop()
        if sum(len(s) >= 2 for s in stack) >= 3:
            areas.append(_around([c for segment in stack for c in segment]))
    return areas


def _continues(stack: Sequence[Sequence[Chunk]], box: Box) -> bool:
    """Whether ``box`` stands right below the last rows of ``stack``."""
    last = _around([chunk for segment in stack[-3:] for chunk in segment])
    across = min(last.x1, box.x1) - max(last.x0, box.x0)
    return box.y0 - last.y1 < 3 * box.height and across > 0.5 * min(last.width, box.width)


def _segments(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Runs of neighbouring chunks in one row, cut at running text."""
    segments: list[list[Chunk]] = []
    current: list[Chunk] = []
    for chunk in chunks:
        if current and current[-1].row != chunk.row:
            segments.append(current)
            current = []
        if _runs_on(chunk):
            if current:
                segments.append(current)
            current = []
            continue
        current.append(chunk)
    return [*segments, current] if current else segments


def _runs_on(chunk: Chunk) -> bool:
    """Whether a chunk looks like a line of running text."""
    words = sum(any(c.isalpha() for c in t.text) for t in chunk.tokens)
    wide = chunk.box.width > _PROSE_WIDTH * chunk.tokens[0].size
    return wide and (words >= _PROSE_WORDS or len(chunk.text) > 5 * _PROSE_WORDS)


def _around(chunks: Sequence[Chunk]) -> Box:
    box = chunks[0].box
    for chunk in chunks[1:]:
        box = box.union(chunk.box)
    return box


def grown_to_lines(box: Box, lines: Sequence[Line]) -> Box:
    """The box grown to lines of text that lie in it for more than half."""
    for line in lines:
        if line.box.inside(box) > 0.5:
            box = box.union(line.box)
    return box


def widened(box: Box, tokens: Sequence[Token]) -> Box:
    """The box with what its rows have beside them: labels that the layout model left out.

    A side is taken when most rows with figures go on there, in words that are no running text.
    """
    rows = text_rows(t for t in tokens if box.y0 <= t.middle <= box.y1)
    inside = [row for row in rows if any(is_figure(t.text) for t in row if t.box.inside(box) > 0.5)]
    wider = box
    for side in (0, 1):
        found: list[Chunk] = []
        for row in inside:
            beside = [t for t in row if (t.box.x1 <= box.x0, t.box.x0 >= box.x1)[side]]
            chunks = chunks_of([beside], 1.5) if beside else []
            if chunks:
                found.append(chunks[-1] if side == 0 else chunks[0])
        prose = sum(_runs_on(chunk) for chunk in found)
        if len(found) >= max(3, _MOST * len(inside)) and prose <= 0.2 * len(found):
            wider = wider.union(_around(found))
    return wider
