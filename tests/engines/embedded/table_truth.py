"""What tests of tables share: pages from generated PDFs, and cells from markup.

Owns the exact-cell measure: a cell counts when its row, column, spans and text are all right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from lxml import html

from moonpress.document import PageImage
from moonpress.engines.embedded.types import Box, Line, UprightPage, Word
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.generators.page import TruthTable

Cells = set[tuple[int, int, int, int, str]]


def image_of(data: bytes, number: int = 1) -> PageImage:
    """A page of a PDF or picture at 200 dpi."""
    source = open_source(data, name="test", password=None)
    try:
        return source.page(number, RenderRequest(dpi=200, max_pixels=30_000_000))
    finally:
        source.close()


def plain(text: str) -> str:
    """Text as it is compared: compatibility forms folded, no white space."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def cells_of(markup: str) -> Cells:
    """(row, column, row span, column span, text) of every cell."""
    taken: set[tuple[int, int]] = set()
    cells: Cells = set()
    for row, line in enumerate(html.fromstring(markup).iter("tr")):
        column = 0
        for cell in line:
            while (row, column) in taken:
                column += 1
            height, width = int(cell.get("rowspan", 1)), int(cell.get("colspan", 1))
            cells.add((row, column, height, width, plain("".join(cell.itertext()))))
            taken |= {(row + r, column + c) for r in range(height) for c in range(width)}
    return cells


def truth_cells(table: TruthTable) -> Cells:
    """The same of a generated table."""
    return {(c.row, c.column, c.row_span, c.column_span, plain(c.text)) for c in table.cells}


def rate(pairs: Iterable[tuple[Cells, Cells]]) -> float:
    """F1 of exact cells over pairs of (truth, read), 0 to 1."""
    right = total = 0
    for truth, read in pairs:
        right += len(truth & read)
        total += len(truth) + len(read)
    return 2 * right / total


def written(
    rows: Iterable[tuple[float, Iterable[tuple[float, str]]]], size: float = 20
) -> list[Line]:
    """Lines of text at given heights: ``(top, [(left, text), ...])``; letters half as wide as high.

    Each run is one line of its own, as columns are after the text stage.
    """
    lines = []
    for top, runs in rows:
        for left, text in runs:
            words, x = [], left
            for word in text.split():
                width = size / 2 * len(word)
                words.append(Word(Box(x, top, x + width, top + size), word))
                x += width + size / 3
            box = Box(left, top, words[-1].box.x1, top + size)
            lines.append(Line(box, text, size=size, words=tuple(words)))
    return lines


def page_of(lines: Iterable[Line], rulings: Iterable[Box] = ()) -> UprightPage:
    """A white page of 1000 x 1400 pixels with lines of text, its rulings drawn in black."""
    import numpy as np

    from moonpress.document import PageSize, TextOrigin

    pixels = np.full((1400, 1000, 3), 255, dtype=np.uint8)
    drawn = tuple(rulings)
    for box in drawn:
        x1, y1 = max(box.x1, box.x0 + 1), max(box.y1, box.y0 + 1)
        pixels[int(box.y0) : int(y1), int(box.x0) : int(x1)] = 0
    size = PageSize(360.0, 504.0, 1000, 1400)
    return UprightPage(pixels, size, tuple(lines), drawn, origin=TextOrigin.TEXT_LAYER)
