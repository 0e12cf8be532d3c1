"""Blocks while they are being made, in pixels.

Owns `Draft`, the only type that the structure modules hand to each other besides `Line`. Never
decides anything about a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moonpress.document import BlockKind
from moonpress.engines.embedded.markup import join_lines
from moonpress.engines.embedded.types import Box, Line


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A block to be.

    Attributes:
        kind: What it is taken for so far.
        box: Around it.
        rows: Its rows of text in reading order, each from left to right.
        html: Its HTML when that is made already (tables).
        level: Provisional heading level.
        confidence: 0 to 1 when it does not follow from its lines.
        chain: Drafts with the same number are one paragraph, which goes on in the next column.
    """

    kind: BlockKind
    box: Box
    rows: tuple[tuple[Line, ...], ...] = ()
    html: str | None = None
    level: int | None = None
    confidence: float | None = None
    chain: int | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its lines in reading order."""
        return tuple(line for row in self.rows for line in row)

    @property
    def text(self) -> str:
        """Its text as one paragraph."""
        return join_lines(self.row_texts)

    @property
    def row_texts(self) -> list[str]:
        """The text of each row."""
        return [" ".join(line.text.strip() for line in row) for row in self.rows]


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around ``boxes``, of which there is at least one."""
    items = list(boxes)
    return Box(
        min(b.x0 for b in items),
        min(b.y0 for b in items),
        max(b.x1 for b in items),
        max(b.y1 for b in items),
    )


def shared_width(a: Box, b: Box) -> float:
    """Pixels that the two boxes share horizontally; negative is the gap between them."""
    return min(a.x1, b.x1) - max(a.x0, b.x0)


def shared_height(a: Box, b: Box) -> float:
    """Pixels that the two boxes share vertically; negative is the gap between them."""
    return min(a.y1, b.y1) - max(a.y0, b.y0)


def same_row(a: Box, b: Box) -> bool:
    """Whether two pieces of text stand on one row."""
    return shared_height(a, b) > 0.5 * min(a.height, b.height)


def rows_of(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """Group lines of one column into rows from the top, each from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda item: (item.box.y0 + item.box.y1, item.box.x0)):
        if rows and any(same_row(line.box, other.box) for other in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [tuple(sorted(row, key=lambda item: item.box.x0)) for row in rows]
