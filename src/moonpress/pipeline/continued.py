"""Paragraphs and tables that go on over a page break.

Owns the pass that finds them. A wrong joint is worse than none, so every doubt decides against one.
Never joins anything: the later block gets the id of the earlier one, and outputs show them as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from moonpress.document import Block, BlockKind, Page, PageStatus
from moonpress.pipeline.continued_tables import TableEnd, table_goes_on
from moonpress.pipeline.continued_text import is_page_number, text_goes_on

K = BlockKind
_APART = frozenset({K.PAGE_HEADER, K.PAGE_FOOTER, K.FOOTNOTE, K.BLANK})
# They stand where there is room, often at the top of a page, in the middle of somebody's sentence.
_FLOATS = frozenset({K.FIGURE, K.DIAGRAM, K.CHEMISTRY, K.TABLE, K.CAPTION})


def mark_continued(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Set `Block.continues` where a paragraph or a table goes on from the page before.

    A paragraph may go on past figures, tables and notes, and past pages that hold nothing else; a
    table only from the end of a page to the start of the next. Pages must follow on each other in
    the source and have been read wholly.
    """
    earlier: dict[str, str] = {}
    _paragraphs(pages, earlier)
    _tables(pages, earlier)
    if not earlier:
        return tuple(pages)
    return tuple(
        replace(page, blocks=tuple(_marked(block, earlier) for block in page.blocks))
        for page in pages
    )


def _marked(block: Block, earlier: dict[str, str]) -> Block:
    return replace(block, continues=earlier[block.id]) if block.id in earlier else block


@dataclass(frozen=True, slots=True)
class _Open:
    """A paragraph at the end of a page; ``number`` is the last page without another one."""

    block: Block
    number: int


def _paragraphs(pages: Sequence[Page], earlier: dict[str, str]) -> None:
    passed = _APART | _FLOATS
    last: _Open | None = None
    for page in pages:
        flow = _flow(page, lambda block: block.kind in passed or is_page_number(block))
        if last is not None and page.number != last.number + 1:
            last = None
        if page.status is not PageStatus.OK:
            last = None
        elif flow:
            if last is not None and text_goes_on(last.block, flow[0]):
                earlier[flow[0].id] = last.block.id
            last = _Open(flow[-1], page.number)
        elif last is not None:
            last = replace(last, number=page.number)


def _flow(page: Page, is_passed: Callable[[Block], bool]) -> list[Block]:
    return [block for block in page.blocks if not is_passed(block)]


def _tables(pages: Sequence[Page], earlier: dict[str, str]) -> None:
    last: TableEnd | None = None
    for page in pages:
        if page.status is not PageStatus.OK or page.size is None:
            last = None
            continue
        flow = _flow(page, lambda block: block.kind in _APART or is_page_number(block))
        start = next((k for k, block in enumerate(flow) if block.kind is not K.CAPTION), None)
        first = None if start is None else flow[start]
        if first is not None and first.kind is K.TABLE and last is not None:
            title = [b for b in flow if b.kind is K.CAPTION and _belongs(b, first, flow[:start])]
            if page.number == last.page.number + 1 and table_goes_on(last, first, title, page):
                earlier[first.id] = last.block.id
        last = _table_end(page, flow, last, earlier)


def _belongs(caption: Block, table: Block, before: Sequence[Block]) -> bool:
    return caption.caption_for == table.id or caption in before


def _table_end(
    page: Page, flow: Sequence[Block], last: TableEnd | None, earlier: dict[str, str]
) -> TableEnd | None:
    """The table at the end of ``page``; its head is where the chain that it ends has begun."""
    body = [block for block in flow if block.kind is not K.CAPTION]
    if not body or body[-1].kind is not K.TABLE:
        return None
    block = body[-1]
    titles = tuple(b for b in flow if b.kind is K.CAPTION and b.caption_for == block.id)
    if last is not None and earlier.get(block.id) == last.block.id:
        return TableEnd(block, page, last.head, (*last.titles, *titles))
    return TableEnd(block, page, block, titles)
