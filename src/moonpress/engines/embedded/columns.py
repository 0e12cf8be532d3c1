"""Lines into stacks: lines that follow each other down one column.

Owns the grouping by geometry. Never splits a stack into paragraphs and never orders stacks.
"""

from __future__ import annotations

from collections.abc import Sequence

from moonpress.engines.embedded.drafts import around, same_row, shared_width
from moonpress.engines.embedded.types import Box, Line

# Two lines of one paragraph are closer than this, in line heights.
_LEADING = 0.75
# Heights of lines of one paragraph differ less than by this factor.
_HEIGHTS = 1.4


class _Stack:
    """A stack that still grows downwards."""

    __slots__ = ("last", "lines")

    def __init__(self, line: Line) -> None:
        self.lines = [line]
        self.last = line.box

    def distance(self, box: Box) -> float | None:
        """How far below the stack's last row ``box`` lies; ``None`` when it does not belong."""
        last = self.last
        shared = shared_width(last, box)
        if shared < 0.3 * min(last.width, box.width):
            return None
        gap = box.y0 - last.y1
        low, high = sorted((last.height, box.height))
        if not -0.5 * low < gap < _LEADING * low or high > _HEIGHTS * low:
            return None
        return gap

    def add(self, line: Line) -> None:
        self.lines.append(line)
        self.last = around([self.last, line.box]) if same_row(self.last, line.box) else line.box


def stack_lines(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """Group lines into stacks, each from its top line to its bottom line."""
    stacks: list[_Stack] = []
    for line in sorted(lines, key=lambda item: item.box.y0):
        best: tuple[float, _Stack] | None = None
        for stack in stacks:
            distance = stack.distance(line.box)
            if distance is not None and (best is None or distance < best[0]):
                best = (distance, stack)
        if best is None:
            stacks.append(_Stack(line))
        else:
            best[1].add(line)
    return [tuple(stack.lines) for stack in stacks]
