"""A document as chunks of Markdown for a retrieval index, each able to stand alone.

Owns what goes into one chunk. Never writes a format: see `chunks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from moonpress.document import BBox, Block, BlockKind, Document, Page, RenderOptions
from moonpress.document.html import visible_text
from moonpress.outputs.markdown import render_shown
from moonpress.outputs.markdown_blocks import join_blocks
from moonpress.outputs.pages import Shown, page_remark, shown_pages
from moonpress.outputs.splitting import split_markdown
from moonpress.outputs.token_estimate import estimate_tokens

_WHOLE: Final = frozenset({BlockKind.TABLE, BlockKind.FORMULA, BlockKind.CODE, BlockKind.FIGURE})
_DEFAULT_LEVEL: Final = 2


@dataclass(frozen=True, slots=True)
class Place:
    """A block on its page."""

    page: int
    bbox: BBox
    block: Block


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document.

    Attributes:
        text: Markdown; empty when the chunk only says that a page was not read.
        headings: The headings above it, from the outermost.
        places: The blocks that it is made of, in reading order.
        tokens: Estimated, of ``text``.
        page: On which it begins.
        problem: Why a page could not be read, or not wholly.
    """

    text: str
    headings: tuple[str, ...]
    places: tuple[Place, ...]
    tokens: int
    page: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """What goes into one chunk together: a paragraph or part of one, a table with its captions."""

    blocks: tuple[str, ...]
    places: tuple[Place, ...]
    tokens: int
    is_heading: bool = False


def chunk_document(document: Document, options: RenderOptions) -> Iterator[Chunk]:
    """Cut ``document`` into chunks of ``options.chunk_tokens`` tokens.

    A heading begins a chunk, so that all of a chunk is under the same headings. Tables, formulas,
    code and figures stay whole, tables with their captions; what is larger than
    ``options.chunk_limit`` and can be cut is cut between items or sentences.
    """
    options = replace(options, page_anchors=False)
    path: list[tuple[int, str]] = []
    open_units: list[_Unit] = []
    for page, shown in shown_pages(document, options):
        remark = page_remark(page)
        if remark:
            yield from _closed(open_units, path)
            yield Chunk("", _titles(path), (), 0, page.number, remark)
        for group in _groups(shown):
            block = group[0].block
            if block.kind is BlockKind.HEADING:
                if not all(unit.is_heading for unit in open_units):
                    yield from _closed(open_units, path)
                _step(path, block)
            for unit in _units(group, page, options):
                if _is_full(open_units, unit, options):
                    yield from _closed(open_units, path)
                open_units.append(unit)
    yield from _closed(open_units, path)


def _is_full(units: Sequence[_Unit], unit: _Unit, options: RenderOptions) -> bool:
    """Whether ``unit`` goes into the next chunk; headings never stand alone."""
    if all(u.is_heading for u in units):
        return False
    size = sum(u.tokens for u in units)
    if size + unit.tokens <= options.chunk_tokens:
        return False
    return size >= options.chunk_tokens / 2 or size + unit.tokens > options.chunk_limit


def _closed(units: list[_Unit], path: Sequence[tuple[int, str]]) -> Iterator[Chunk]:
    """The chunk of ``units``, which are then cleared."""
    if units:
        text = join_blocks(block for unit in units for block in unit.blocks)
        places = tuple(dict.fromkeys(place for unit in units for place in unit.places))
        tokens = sum(unit.tokens for unit in units)
        yield Chunk(text, _titles(path), places, tokens, places[0].page)
        units.clear()


def _titles(path: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in path)


def _step(path: list[tuple[int, str]], heading: Block) -> None:
    level = heading.level or _DEFAULT_LEVEL
    while path and path[-1][0] >= level:
        path.pop()
    path.append((level, visible_text(heading.html)))


def _groups(blocks: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Each block by itself, but tables with the captions that stand beside them."""
    group: list[Shown] = []
    for shown in blocks:
        if group and not _belong_together(group[-1].block, shown.block):
            yield group
            group = []
        group.append(shown)
    if group:
        yield group


def _belong_together(first: Block, second: Block) -> bool:
    return second.id == first.caption_for or (
        second.caption_for is not None and second.caption_for in {first.id, first.caption_for}
    )


def _units(group: Sequence[Shown], page: Page, options: RenderOptions) -> Iterator[_Unit]:
    rendered = list(chain.from_iterable(render_shown(shown, options) for shown in group))
    places = tuple(chain.from_iterable(_places(shown, page) for shown in group))
    kinds = {shown.block.kind for shown in group}
    if not rendered:
        return
    if kinds & _WHOLE:
        yield _Unit(tuple(rendered), places, sum(map(estimate_tokens, rendered)))
        return
    for block in rendered:
        for piece in split_markdown(block, options.chunk_limit):
            tokens = estimate_tokens(piece)
            yield _Unit((piece,), places, tokens, kinds == {BlockKind.HEADING})


def _places(shown: Shown, page: Page) -> Iterator[Place]:
    yield Place(page.number, shown.block.bbox, shown.block)
    for caption in shown.captions:
        yield Place(page.number, caption.bbox, caption)
    for block, later in shown.parts:
        yield Place(later.number, block.bbox, block)
