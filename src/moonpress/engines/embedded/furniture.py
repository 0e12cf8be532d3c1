"""Page headers, footers and page numbers.

Owns telling them from the body on one page. Never compares pages: what repeats over a document is
for the pipeline to see.

Rows of the page are weighed from the edge inwards, and the first row that is not furniture ends
the search: place, distance from the body, a page number, a rule across the page and the layout
model's word count for a row; large letters and running text count against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from moonpress.engines.embedded.drafts import around, rows_of
from moonpress.engines.embedded.headings import letter_size
from moonpress.engines.embedded.types import Box, Line, Region, RegionKind

_NUMBER = re.compile(
    r"^[-\u2013\u2014|\[(\s]*(?:(?:page|seite|p\u00e1gina|p\u00e1g\.?|pg\.?|p\.)\s*)?"
    r"(?:[A-Z]{1,2}-?)?(?:\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})"
    r"(?:\s*(?:of|/|von|de|sur)\s*\d{1,4})?[-\u2013\u2014|\])\s.]*$",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"https?:|www\.|\u00a9|\(c\)|copyright|issn|isbn|doi|all rights reserved|downloaded|"
    r"\bvol(?:\.|ume)|\bpage\s+\d|\bpages?\b\s*\d",
    re.IGNORECASE,
)
_ENDS_IN_NUMBER = re.compile(
    r"^\d{1,4}\s*[|\u2013\u2014]|[|\u2013\u2014]\s*\d{1,4}$|\bpage\s+\d+\b", re.IGNORECASE
)
_ENOUGH = 4
_MOST_ROWS = 4
# A page with fewer rows in its body is a title page, a letter, a form or the end of a chapter.
_FEW_ROWS = 14


@dataclass(frozen=True, slots=True)
class Furniture:
    """A page's lines, parted."""

    headers: tuple[Line, ...]
    footers: tuple[Line, ...]
    body: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the page with what counts for it.

    Attributes:
        edge: Distance of its far side from the edge of the page, as a share of the height.
        gap: White space between it and the next row inwards, in heights of the row.
    """

    lines: tuple[Line, ...]
    box: Box
    edge: float
    gap: float


def find_furniture(
    lines: Sequence[Line],
    blocked: Sequence[Box],
    *,
    height: float,
    body_size: float,
    regions: Sequence[Region],
    rulings: Sequence[Box],
) -> Furniture:
    """Part the lines of a page.

    Args:
        lines: Lines outside tables and figures.
        blocked: Boxes of tables and figures.
        height: Of the page, in pixels.
        body_size: Letter size of running text, in pixels.
        regions: From the layout model.
        rulings: Lines drawn on the page.
    """
    margin = tuple(line for line in lines if _upended(line.box))
    lines = [line for line in lines if not _upended(line.box)]
    rows = [(around(line.box for line in row), row) for row in rows_of(lines)]
    marks = [r for r in regions if r.kind in (RegionKind.HEADER, RegionKind.FOOTER)]
    across = [r for r in rulings if r.width > 20 * max(r.height, 1.0)]
    everything = [box for box, _ in rows] + list(blocked)
    width = max((b.x1 for b in everything), default=0) - min((b.x0 for b in everything), default=0)
    rules = [r for r in across if r.width > 0.6 * width]
    top = _take(_from_top(rows, blocked, height), body_size, marks, rules)
    bottom = _take(_from_bottom(rows, blocked, height), body_size, marks, rules)
    if len(top) + len(bottom) >= len(rows) and not _may_stand_alone(rows, blocked):
        top = bottom = []
    if len(rows) - len(top) - len(bottom) < _FEW_ROWS and not marks:
        top, bottom = _plain(top), _plain(bottom)
    headers = tuple(line for row in top for line in row.lines)
    footers = tuple(line for row in reversed(bottom) for line in row.lines) + margin
    gone = {id(line) for line in (*headers, *footers)}
    return Furniture(headers, footers, tuple(line for line in lines if id(line) not in gone))


def _plain(rows: Sequence[_Row]) -> list[_Row]:
    """Rows that are furniture by what they say, as place says little on a page of few lines.

    A running title that is spared so is found where it repeats over the pages of a document. One
    beside a page number is furniture, as are three notes in the corners and the middle of the edge;
    what begins in lower case beside a number goes on from somewhere, and is text.
    """
    result = []
    for row in rows:
        said = [_NUMBER.match(x.text) or _IMPRINT.search(x.text) for x in row.lines]
        if len(row.lines) >= 3 and row.edge < 0.115 and not any(said):
            result.append(row)
        elif any(said):
            kept = [
                line
                for line, plain in zip(row.lines, said, strict=True)
                if plain or not line.text[:1].islower()
            ]
            result.append(replace(row, lines=tuple(kept)))
    return result


def _may_stand_alone(rows: Sequence[tuple[Box, tuple[Line, ...]]], blocked: Sequence[Box]) -> bool:
    """Whether a page may have nothing but furniture besides tables and figures.

    Words that are all there is on a page are its text, wherever they stand; a lone page number is
    not.
    """
    if len(rows) > 1:
        return False
    return bool(blocked) or all(_NUMBER.match(line.text) for _, row in rows for line in row)


def _from_top(
    rows: Sequence[tuple[Box, tuple[Line, ...]]], blocked: Sequence[Box], height: float
) -> list[_Row]:
    result = []
    for k, (box, lines) in enumerate(rows[: _MOST_ROWS + 1]):
        below = [b.y0 for b, _ in rows[k + 1 :]] + [b.y0 for b in blocked if b.y1 > box.y1]
        gap = (min(below) - box.y1) / max(box.height, 1.0) if below else 9.0
        result.append(_Row(lines, box, box.y1 / height, gap))
    return result


def _from_bottom(
    rows: Sequence[tuple[Box, tuple[Line, ...]]], blocked: Sequence[Box], height: float
) -> list[_Row]:
    result = []
    for k, (box, lines) in enumerate(rows[::-1][: _MOST_ROWS + 1]):
        above = [b.y1 for b, _ in rows[: len(rows) - k - 1]]
        above += [b.y1 for b in blocked if b.y0 < box.y0]
        gap = (box.y0 - max(above)) / max(box.height, 1.0) if above else 9.0
        result.append(_Row(lines, box, 1.0 - box.y0 / height, gap))
    return result


def _take(
    rows: Sequence[_Row], body_size: float, marks: Sequence[Region], rules: Sequence[Box]
) -> list[_Row]:
    """The rows that are furniture, from the edge inwards."""
    count = 0
    for k, row in enumerate(rows[:_MOST_ROWS]):
        near = k == 0 or rows[k - 1].gap < row.gap
        weight = _weight(row, body_size, marks, rules) + near
        # A rule or a wide gap on the inner side of a row makes furniture of those outside it too.
        if weight >= _ENOUGH:
            count = k + 1
        elif k > count + 1 or row.gap > 2.0:
            break
    return list(rows[:count])


def _weight(row: _Row, body_size: float, marks: Sequence[Region], rules: Sequence[Box]) -> int:
    text = " ".join(line.text for line in row.lines)
    numbered = bool(_ENDS_IN_NUMBER.search(text)) or any(
        _NUMBER.match(line.text.strip()) for line in row.lines
    )
    letters = sum(line.box.width for line in row.lines)
    weight = 2 if row.edge < 0.07 else 1 if row.edge < 0.115 else 0 if row.edge < 0.16 else -9
    weight += 2 * numbered
    weight += 2 * any(line.box.inside(m.box) > 0.5 for m in marks for line in row.lines)
    weight += (row.gap > 0.8) + (row.gap > 2.0)
    weight += 2 * any(_runs_along(row, rule) for rule in rules)
    weight += len(row.lines) > 1 and letters < 0.6 * row.box.width and len(text) < 110
    weight += bool(_IMPRINT.search(text))
    size = max(letter_size(line) for line in row.lines)
    if size > 1.35 * body_size and not numbered:
        weight -= 2
    if len(text) > 110 and row.gap < 0.8:
        weight -= 2
    return weight


def _runs_along(row: _Row, rule: Box) -> bool:
    """Whether a rule runs along the inner side of the row, close to it."""
    reach = 1.5 * row.box.height
    return (
        -0.3 * row.box.height < rule.y0 - row.box.y1 < reach
        or -0.3 * row.box.height < row.box.y0 - rule.y1 < reach
    )


def _upended(box: Box) -> bool:
    """Whether a line runs up or down the page: stamps of archives and publishers in the margin."""
    return box.height > 5 * box.width
