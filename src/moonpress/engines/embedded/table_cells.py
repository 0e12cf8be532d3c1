"""The grid of a table, and the words that stand in its cells.

Owns the types that the ways of reading a table share, and how words are gathered, put into cells
and joined to text. Never decides where cells are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from moonpress.engines.embedded.types import Box, Line

_NUMBER = re.compile(
    r"[(\[<>≤≥~≈±+\-–—−*†‡$€£¥]*\s*\d[\d\s.,:/'’]*\s*(?:[eE][+\-−]?\d+)?\s*"
    r"(?:[%‰°)\]*†‡]|[±+\-–−/x×]\s*\d[\d.,]*|[KMBTkmbt]\b|pp|bps)*\s*"
)
_MARKS = frozenset("-–—−*…✓✗×xX•·./")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LEADERS = re.compile(r"(?:\s*[.·…_]){3,}\s*$")
_CJK = re.compile(r"[⺀-鿿豈-﫿＀-￯　-〿]")


class Token(NamedTuple):
    """A word (or a whole line where words are not known) with the line it comes from."""

    box: Box
    text: str
    line: int
    size: float
    bold: bool

    @property
    def middle(self) -> float:
        """Height of its centre on the page."""
        return (self.box.y0 + self.box.y1) / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; ``box`` in pixels of the page."""

    row: int
    column: int
    row_span: int
    column_span: int
    box: Box


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's cells.

    Attributes:
        rows: Number of rows.
        columns: Number of columns.
        cells: Every cell once, by row, then column; empty cells too.
        header_rows: Rows that ruling lines or the model mark as header; 0 when nothing does.
    """

    rows: int
    columns: int
    cells: tuple[Cell, ...]
    header_rows: int = 0


def tokens_in(lines: Sequence[Line], box: Box) -> list[Token]:
    """Words of all lines that lie for more than half in ``box``."""
    tokens: list[Token] = []
    for index, line in enumerate(lines):
        if line.box.inside(box) <= 0.5:
            continue
        size = line.size or line.box.height
        if line.words:
            tokens += [Token(w.box, w.text, index, size, line.bold) for w in line.words if w.text]
        elif line.text.strip():
            tokens.append(Token(line.box, line.text.strip(), index, size, line.bold))
    return tokens


def text_rows(tokens: Iterable[Token]) -> list[list[Token]]:
    """Group tokens that stand at one height, top to bottom, each group left to right.

    A token joins the row whose letters share more than half of the lower one's height with it.
    """
    rows: list[list[Token]] = []
    spans: list[tuple[float, float]] = []
    for token in sorted(tokens, key=lambda t: t.middle):
        best, most = -1, 0.5
        for index in range(len(rows) - 1, max(len(rows) - 4, -1), -1):
            top, bottom = spans[index]
            shared = min(bottom, token.box.y1) - max(top, token.box.y0)
            share = shared / max(min(bottom - top, token.box.height), 1e-6)
            if share > most:
                best, most = index, share
        if best < 0:
            rows.append([token])
            spans.append((token.box.y0, token.box.y1))
        else:
            # The row stands at the mean of its words: boxes of scanned words are ragged.
            count = len(rows[best])
            top, bottom = spans[best]
            spans[best] = (
                (top * count + token.box.y0) / (count + 1),
                (bottom * count + token.box.y1) / (count + 1),
            )
            rows[best].append(token)
    for row in rows:
        row.sort(key=lambda t: t.box.x0)
    return rows


def is_number(text: str) -> bool:
    """Whether a text is one figure (with sign, unit mark or brackets) or a mark for none."""
    text = text.strip()
    if not text:
        return False
    return bool(_NUMBER.fullmatch(text)) or all(c in _MARKS for c in text)


def is_figure(text: str) -> bool:
    """Whether a text is a number with digits that is not just a year, as headings are."""
    return is_number(text) and any(c.isdigit() for c in text) and not _YEAR.fullmatch(text)


def joined(tokens: Sequence[Token]) -> str:
    """Text of tokens of one line, spaces where the scripts use them."""
    text = ""
    for token in tokens:
        text = glued(text, token.text)
    return text


def glued(left: str, right: str) -> str:
    """Two runs of text one after the other; no space between two ideographs."""
    if not left or not right:
        return left + right
    if _CJK.match(left[-1]) and _CJK.match(right[0]):
        return left + right
    return f"{left} {right}"


def without_leaders(text: str) -> str:
    """Drop a run of dots at the end that only leads the eye to the next column."""
    shorter = _LEADERS.sub("", text)
    return shorter if shorter.strip() else text


def fill(grid: Grid, tokens: Sequence[Token]) -> list[list[Token]]:
    """Tokens of each cell, in the order of ``grid.cells``; every token lands in exactly one cell.

    A token goes to the cell that holds its centre, else to the nearest one.
    """
    filled: list[list[Token]] = [[] for _ in grid.cells]
    for token in tokens:
        x = (token.box.x0 + token.box.x1) / 2
        best, least = 0, float("inf")
        for index, cell in enumerate(grid.cells):
            dx = max(cell.box.x0 - x, x - cell.box.x1, 0.0)
            dy = max(cell.box.y0 - token.middle, token.middle - cell.box.y1, 0.0)
            if dx + dy < least:
                best, least = index, dx + dy
                if least == 0:
                    break
        filled[best].append(token)
    return filled
