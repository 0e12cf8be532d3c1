"""Whether a table goes on as the first one of the next page.

Owns what counts as evidence: the same columns at the same place, from the bottom of one page to the
top of the next, under the same header or none. Never looks beyond the two tables and their titles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.document import BBox, Block, Page
from moonpress.document.html import parse_fragment, visible_text
from moonpress.outputs.tables import Grid, read_grid, repeated_header

# Fractions of the page.
_REACHES_DOWN_TO = 0.6
_STARTS_ABOVE = 0.35
_SAME_PLACE = 0.025
_SAME_SHAPE = 0.01
_FEWEST_COLUMNS = 2
_NUMBER = re.compile(r"\b([A-Z]?\d+(?:[.-]\d+)*|[IVXL]+)\b")
_CONTINUED = re.compile(
    r"\bcont(?:inued|inuation|\.|\u2019d|'d|d)|\bForts|\bsuite\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TableEnd:
    """A table at the end of a page.

    Attributes:
        block: It.
        page: On which it stands.
        head: The table that it goes on from, on whichever page that began; itself if on none.
        titles: Captions of ``head`` and of what lies between.
    """

    block: Block
    page: Page
    head: Block
    titles: tuple[Block, ...]


def table_goes_on(end: TableEnd, block: Block, titles: Sequence[Block], page: Page) -> bool:
    """Whether ``block``, the first of ``page``, is the rest of the table that ``end`` is.

    Args:
        end: The table at the end of the page before.
        block: A table.
        titles: Captions of ``block``.
        page: On which it stands.
    """
    first, second = upright(end.block.bbox, end.page.rotation), upright(block.bbox, page.rotation)
    if not _pages_alike(end.page, page) or not _meet(first, second):
        return False
    head, rest = _grid(end.head), _grid(block)
    if head is None or rest is None or head.columns != rest.columns:
        return False
    if head.columns < _FEWEST_COLUMNS or repeated_header(head, rest) is None:
        return False
    return _same_title(end, rest, titles)


def _pages_alike(first: Page, second: Page) -> bool:
    one, other = first.size, second.size
    if one is None or other is None or first.rotation != second.rotation:
        return False
    shapes = one.width_pt / one.height_pt, other.width_pt / other.height_pt
    return abs(shapes[0] - shapes[1]) < _SAME_SHAPE


def _meet(first: BBox, second: BBox) -> bool:
    across = abs(first.x0 - second.x0) < _SAME_PLACE and abs(first.x1 - second.x1) < _SAME_PLACE
    return across and first.y1 >= _REACHES_DOWN_TO and second.y0 <= _STARTS_ABOVE


def _grid(block: Block) -> Grid | None:
    """The block's table; ``None`` when it holds none, or more than that."""
    tables = parse_fragment(block.html).findall("table")
    return read_grid(tables[0]) if len(tables) == 1 else None


def _same_title(end: TableEnd, rest: Grid, titles: Sequence[Block]) -> bool:
    """Whether no title says that another table begins."""
    words = [visible_text(title.html) for title in titles]
    if rest.caption is not None:
        words.append(" ".join(rest.caption.itertext()))
    if not words:
        return True
    if all(_CONTINUED.search(text) for text in words):
        return True
    earlier = {_number(visible_text(title.html)) for title in end.titles}
    return all(_number(text) in earlier - {None} for text in words)


def _number(title: str) -> str | None:
    found = _NUMBER.search(title)
    return None if found is None else found[1]


def upright(box: BBox, rotation: int) -> BBox:
    """``box`` on the page as it was turned to be read; ``rotation`` as in `Page`."""
    x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    turned = {
        90: (1 - y1, x0, 1 - y0, x1),
        180: (1 - x1, 1 - y1, 1 - x0, 1 - y0),
        270: (y0, 1 - x1, y1, 1 - x0),
    }
    return BBox(*turned.get(rotation, (x0, y0, x1, y1)))
