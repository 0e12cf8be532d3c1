"""From lines and regions to blocks in reading order.

Owns the sequence of decisions and the making of `Block`s. Never looks at pixels; each decision has
a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median

from moonpress.document import Block, BlockKind, TextOrigin
from moonpress.engines.embedded.captions import is_caption, tie_captions
from moonpress.engines.embedded.columns import stack_lines
from moonpress.engines.embedded.drafts import Draft, around, rows_of, shared_width
from moonpress.engines.embedded.dropcaps import restore_drop_capitals
from moonpress.engines.embedded.footnotes import mark_footnotes
from moonpress.engines.embedded.forms import find_forms
from moonpress.engines.embedded.furniture import find_furniture
from moonpress.engines.embedded.headings import BodyStyle, body_style, heading_level, letter_size
from moonpress.engines.embedded.joining import join_continued, join_runs
from moonpress.engines.embedded.line_numbers import take_line_numbers
from moonpress.engines.embedded.lists import marker_of
from moonpress.engines.embedded.markup import element
from moonpress.engines.embedded.order import reading_order
from moonpress.engines.embedded.paragraphs import split_paragraphs
from moonpress.engines.embedded.pieces import join_pieces, split_at_gutters
from moonpress.engines.embedded.references import mark_references
from moonpress.engines.embedded.tables import TableReading
from moonpress.engines.embedded.types import Box, Line, Region, UprightPage
from moonpress.engines.embedded.zones import find_zones

_OUT_OF_FLOW = (BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER, BlockKind.FOOTNOTE)


def build_blocks(
    page: UprightPage, regions: Sequence[Region], tables: Sequence[TableReading], number: int
) -> tuple[Block, ...]:
    """All blocks of page ``number`` (1-based) in reading order.

    A paragraph that goes on in the next column is a block in each; the later one says which it
    continues.
    """
    body = body_style([line for line in page.lines if len(line.text) > 3])
    zones = find_zones(page, regions, tables)
    blocked = [draft.box for draft in zones.drafts]
    numbers, lines = take_line_numbers(zones.body)
    furniture = find_furniture(
        lines,
        blocked,
        height=page.height,
        body_size=body.size,
        regions=regions,
        rulings=page.rulings,
    )
    forms, running = find_forms(furniture.body, page.rulings)
    mended = join_pieces(restore_drop_capitals(split_at_gutters(running)))
    paragraphs = [
        _paragraph(rows) for stack in stack_lines(mended) for rows in split_paragraphs(stack)
    ]
    drafts = [
        *_furniture(furniture.headers, BlockKind.PAGE_HEADER),
        *_emblems(zones.emblems, page.height),
        *zones.drafts,
        *forms,
        *(_classify(p, body, regions) for p in paragraphs),
        *_furniture([*furniture.footers, *numbers], BlockKind.PAGE_FOOTER),
    ]
    noted = mark_footnotes(drafts, body.size, page.height, page.rulings)
    ordered = mark_references(join_runs(join_continued(_in_order(noted, body.size))), regions)
    names = [f"p{number}-b{k + 1}" for k in range(len(ordered))]
    captioned = {k: names[target] for k, target in tie_captions(ordered).items()}
    continued = _continued(ordered)
    return tuple(
        replace(
            _block(page, draft, names[k], captioned.get(k)),
            continues=names[continued[k]] if k in continued else None,
        )
        for k, draft in enumerate(ordered)
    )


def _continued(drafts: Sequence[Draft]) -> dict[int, int]:
    """For each draft that goes on with another one: the place of that."""
    last: dict[int, int] = {}
    found: dict[int, int] = {}
    for k, draft in enumerate(drafts):
        if draft.chain is not None:
            if draft.chain in last:
                found[k] = last[draft.chain]
            last[draft.chain] = k
    return found


def _paragraph(rows: tuple[tuple[Line, ...], ...]) -> Draft:
    return Draft(BlockKind.TEXT, around(line.box for row in rows for line in row), rows)


def _furniture(lines: Sequence[Line], kind: BlockKind) -> list[Draft]:
    return [replace(_paragraph(tuple(rows_of(stack))), kind=kind) for stack in stack_lines(lines)]


def _emblems(lines: Sequence[Line], height: float) -> list[Draft]:
    top = [line for line in lines if line.box.y1 < 0.5 * height]
    bottom = [line for line in lines if line.box.y1 >= 0.5 * height]
    return [
        *_furniture(top, BlockKind.PAGE_HEADER),
        *_furniture(bottom, BlockKind.PAGE_FOOTER),
    ]


def _classify(draft: Draft, body: BodyStyle, regions: Sequence[Region]) -> Draft:
    if is_caption(draft, regions):
        return replace(draft, kind=BlockKind.CAPTION)
    if (level := heading_level(draft, body, regions)) is not None:
        return replace(draft, kind=BlockKind.HEADING, level=level)
    if not body.mono and all(line.mono for line in draft.lines):
        return replace(draft, kind=BlockKind.CODE)
    if marker_of(draft.text) is not None:
        return replace(draft, kind=BlockKind.LIST)
    return draft


def _in_order(drafts: Sequence[Draft], size: float) -> list[Draft]:
    """Headers, then the body as it is read, then footnotes, then footers."""
    heads = [d for d in drafts if d.kind is BlockKind.PAGE_HEADER]
    notes = [d for d in drafts if d.kind is BlockKind.FOOTNOTE]
    feet = [d for d in drafts if d.kind is BlockKind.PAGE_FOOTER]
    body = [d for d in drafts if d.kind not in _OUT_OF_FLOW]
    units = _units(body)
    boxes = [_within(unit, size) for unit in units]
    middle = [draft for i in reading_order(boxes, gutter=0.5 * size) for draft in units[i]]
    last = [notes[i] for i in reading_order([d.box for d in notes], gutter=0.5 * size)]
    return [*sorted(heads, key=_row_then_left), *middle, *last, *sorted(feet, key=_row_then_left)]


def _within(unit: Sequence[Draft], size: float) -> Box:
    """The box of a unit less the margin that boxes have around letters.

    Detectors leave so much of it left and right that boxes meet over a narrow gutter.
    """
    box = around(draft.box for draft in unit)
    lines = [line for draft in unit for line in draft.lines]
    scanned = bool(lines) and all(line.origin is TextOrigin.OCR for line in lines)
    down = 0.12 * size
    across = min(0.4 * size if scanned else down, 0.25 * box.width)
    return Box(box.x0 + across, box.y0 + down, box.x1 - across, box.y1 - down)


def _units(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Put each heading together with the block under it: they are read in one go."""
    units = {id(d): [d] for d in drafts}
    for heading in sorted(drafts, key=lambda d: -d.box.y0):
        if heading.kind is not BlockKind.HEADING:
            continue
        below = [
            d
            for d in drafts
            if d is not heading
            and d.box.y0 >= heading.box.y1 - 0.3 * heading.box.height
            and shared_width(d.box, heading.box) > 0.6 * min(d.box.width, heading.box.width)
        ]
        nearest = min(below, key=lambda d: d.box.y0, default=None)
        if nearest is None or id(nearest) not in units:
            continue
        gap = nearest.box.y0 - heading.box.y1
        if gap < 1.5 * heading.box.height and heading.box.width < 1.3 * nearest.box.width:
            units[id(heading)] += units.pop(id(nearest))
    return list(units.values())


def _row_then_left(draft: Draft) -> tuple[float, float]:
    return draft.box.y0, draft.box.x0


def _block(page: UprightPage, draft: Draft, name: str, caption_for: str | None) -> Block:
    confidence = draft.confidence
    if confidence is None and draft.lines:
        confidence = mean(line.confidence for line in draft.lines)
    sizes = [letter_size(line) * 72.0 / page.page_size.dpi for line in draft.lines]
    origins = {line.origin for line in draft.lines}
    return Block(
        id=name,
        kind=draft.kind,
        bbox=page.to_page(draft.box),
        html=draft.html if draft.html is not None else _html(draft),
        level=draft.level,
        confidence=confidence,
        origin=origins.pop() if len(origins) == 1 else TextOrigin.MIXED if origins else page.origin,
        font_size=round(median(sizes), 2) if sizes else None,
        caption_for=caption_for,
    )


def _html(draft: Draft) -> str:
    if draft.kind is BlockKind.HEADING:
        return element(f"h{draft.level or 1}", draft.text)
    if draft.kind is BlockKind.FORMULA:
        # Glyphs without meaning say nothing; the picture beside the words shows them.
        return element("p", " ".join(draft.text.replace("\ufffd", " ").split()))
    if draft.kind is BlockKind.FIGURE:
        return '<img alt="">' + "".join(element("p", text) for text in draft.row_texts)
    return element("p", draft.text)
