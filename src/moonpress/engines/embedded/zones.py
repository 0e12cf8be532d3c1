"""Parts of a page that are not running text: tables, figures, formulas.

Owns which lines belong to them and which stay in the body. Never reads a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft, around, rows_of
from moonpress.engines.embedded.tables import TableReading
from moonpress.engines.embedded.types import Box, Line, Region, RegionKind, UprightPage


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
    for region in regions:
        if region.kind is not RegionKind.FORMULA or region.score < 0.5:
            continue
        inside = [
            i
            for i, line in enumerate(page.lines)
            if i not in taken and line.box.inside(region.box) > 0.6
        ]
        if not inside:
            continue
        taken.update(inside)
        lines = [page.lines[i] for i in inside]
        box = around([region.box, *(line.box for line in lines)])
        drafts.append(Draft(BlockKind.FORMULA, box, tuple(rows_of(lines))))
    rest = tuple(line for i, line in enumerate(page.lines) if i not in taken)
    return Zones(tuple(drafts), rest, tuple(emblems))


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
    candidates = [r.box for r in regions if r.kind is RegionKind.FIGURE and r.score > 0.5]
    candidates += [p for p in page.pictures if 0.003 * whole < p.area]
    boxes: list[Box] = []
    for box in sorted(candidates, key=lambda b: -b.area):
        if box.area > 0.7 * whole or any(box.inside(t) > 0.5 for t in tables):
            continue
        if any(box.inside(other) > 0.6 for other in boxes) or _is_text(page, box):
            continue
        boxes.append(box)
    return boxes


def _is_text(page: UprightPage, box: Box) -> bool:
    """Whether lines of running text fill the box."""
    long = [line for line in page.lines if line.box.inside(box) > 0.7 and len(line.text) > 25]
    return sum(line.box.area for line in long) > 0.25 * box.area


def _is_emblem(page: UprightPage, box: Box) -> bool:
    """A small picture at the top or bottom of the page, where letterheads have their logo."""
    edge = min(box.y1, page.height - box.y0)
    return edge < 0.13 * page.height and box.area < 0.04 * page.width * page.height
