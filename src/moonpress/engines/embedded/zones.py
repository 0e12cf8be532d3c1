"""Parts of a page that are not running text: tables, figures, formulas.

Owns which lines belong to them and which stay in the body. Never reads a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.document import BlockKind
from moonpress.engines.embedded.columns import stack_lines
from moonpress.engines.embedded.drafts import Draft, around, rows_of, same_row
from moonpress.engines.embedded.tables import TableReading
from moonpress.engines.embedded.types import Box, Line, Region, RegionKind, UprightPage

_EQUATION_NUMBER = re.compile(r"^[(\[]\d{1,3}(?:\.\d{1,3})*[a-z]?[)\]]$")

_LARGE = 0.3  # share of the page
_COLUMN = 12  # lines under each other, more than the boxes of a flow chart have

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Zones:
    """The parts of a page.

    Attributes:
        drafts: Tables, figures and formulas.
        body: Lines that none of them holds.
        emblems: Lines inside logos at the top or the bottom of the page: furniture.
    """

    drafts: tuple[Draft, ...]
    body: tuple[Line, ...]
    emblems: tuple[Line, ...]


def find_zones(
    page: UprightPage, regions: Sequence[Region], tables: Sequence[TableReading]
) -> Zones:
    """Take tables, figures and formulas out of a page's lines."""
    drafts = [_table(page, table) for table in tables]
    taken = {index for table in tables for index in table.lines}
    emblems: list[Line] = []
    for box in _figure_boxes(page, regions, [table.box for table in tables]):
        inside = [
            i for i, line in enumerate(page.lines) if i not in taken and line.box.inside(box) > 0.7
        ]
        taken.update(inside)
        lines = [page.lines[i] for i in inside]
        if _is_emblem(page, box):
            emblems += lines
            lines = []
        drafts.append(Draft(BlockKind.FIGURE, box, tuple(rows_of(lines))))
    for box in _formula_boxes(page, regions):
        inside = [i for i in _free(page, taken) if page.lines[i].box.inside(box) > 0.6]
        if inside:
            numbers = [i for i in _free(page, taken) if _numbers(page.lines[i], box)]
            inside += [i for i in numbers if i not in inside]
            taken.update(inside)
            drafts.append(_formula(box, [page.lines[i] for i in inside]))
    rest = tuple(line for i, line in enumerate(page.lines) if i not in taken)
    return Zones(tuple(drafts), rest, tuple(emblems))


def _free(page: UprightPage, taken: set[int]) -> list[int]:
    return [i for i in range(len(page.lines)) if i not in taken]


def _numbers(line: Line, formula: Box) -> bool:
    """Whether a line is the number of an equation, in the row of its formula."""
    return bool(_EQUATION_NUMBER.match(line.text.strip())) and same_row(line.box, formula)


def _formula(box: Box, lines: list[Line]) -> Draft:
    rows = tuple(rows_of(lines))
    return Draft(BlockKind.FORMULA, around([box, *(line.box for line in lines)]), rows)


def _table(page: UprightPage, table: TableReading) -> Draft:
    return Draft(
        BlockKind.TABLE,
        table.box,
        tuple(rows_of([page.lines[i] for i in sorted(table.lines)])),
        html=table.html,
        confidence=table.confidence,
    )


def _figure_boxes(page: UprightPage, regions: Sequence[Region], tables: Sequence[Box]) -> list[Box]:
    """Figures from the model and pictures from the PDF, without doubles and false ones."""
    whole = page.width * page.height
    found = [
        _without_text(page, r.box) for r in regions if r.kind is RegionKind.FIGURE and r.score > 0.5
    ]
    # Under text a picture of the page's size is the paper, and so it is on an empty page.
    written = sum(line.box.area for line in page.lines) > 0.02 * whole
    candidates = [box for box in found if box.area < 0.7 * whole or not written]
    candidates += [p for p in page.pictures if 0.003 * whole < p.area < 0.7 * whole]
    boxes: list[Box] = []
    for box in sorted(candidates, key=lambda b: -b.area):
        if box.area < 0.001 * whole or any(box.inside(t) > 0.5 for t in tables):
            continue
        if not any(box.inside(other) > 0.6 for other in boxes) and not _is_text(page, box):
            boxes.append(box)
    return boxes


def _is_text(page: UprightPage, box: Box) -> bool:
    """Whether lines of running text fill the box."""
    prose = [line for line in page.lines if line.box.inside(box) > 0.7 and _is_prose(line.text)]
    # A large picture under columns of text is the ground they are printed on.
    large = box.area > _LARGE * page.width * page.height
    if large and max(map(len, stack_lines(prose)), default=0) >= _COLUMN:
        return True
    return sum(line.box.area for line in prose) > 0.25 * box.area


def _is_prose(text: str) -> bool:
    """Whether a line reads like running text rather than a label or a formula."""
    return len(_WORD.findall(text)) > 3


def _formula_boxes(page: UprightPage, regions: Sequence[Region]) -> list[Box]:
    """Formulas from the model, less those that hold running text."""
    boxes = [r.box for r in regions if r.kind is RegionKind.FORMULA and r.score >= 0.5]
    return [box for box in boxes if not _is_text(page, box)]


def _without_text(page: UprightPage, box: Box) -> Box:
    """Cut running text off a figure's upper and lower side; the model's boxes take it in.

    The figure is the tallest strip of the box between rows of running text.
    """
    text = [
        line.box
        for line in page.lines
        if line.box.overlap(box) > 0.5 * line.box.area
        and _is_prose(line.text)
        and line.box.width > 0.4 * box.width
    ]
    edges = [box.y0, box.y1, *(y for b in text for y in (b.y0, b.y1))]
    strips = []
    for top in edges:
        below = [b.y0 for b in text if b.y1 > top + 0.5 * b.height]
        bottom = min([*below, box.y1])
        if bottom > top:
            strips.append(Box(box.x0, top, box.x1, bottom))
    return max(strips, key=lambda strip: strip.height, default=box)


def _is_emblem(page: UprightPage, box: Box) -> bool:
    """A small picture at the top or bottom of the page, where letterheads have their logo."""
    edge = min(box.y1, page.height - box.y0)
    return edge < 0.13 * page.height and box.area < 0.04 * page.width * page.height
