"""Heading levels over a whole document.

Owns the pass that gives every heading a level from 1 to 6 consistent from the first page to the
last. Never decides what is a heading: engines do. Engines that know levels themselves (no font
size on the block) keep them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from moonpress.document import Block, BlockKind, Page

# A letter counts as a number only before a dot: "A. Proofs" is one, "A study" is not.
_NUMBER = re.compile(r"^\s*((?:\d{1,2}|[A-Z](?=\.))(?:\.\d{1,2})*)[.)]?\s+\S")
_TAG = re.compile(r"<[^>]+>")
_HEADING_TAG = re.compile(r"(</?)h[1-6]\b")
# Sizes closer than this are one style: OCR estimates sizes, and PDFs scale fonts a little.
_SAME_SIZE = 1.07
_TITLE_IS_LARGER_BY = 1.12
_DEEPEST = 6


def level_headings(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Give the headings of all pages their levels.

    The title is the largest heading of the first page that has headings, if nothing later is as
    large. Numbered headings go by their numbering ("2.1" is one deeper than "2"); the others by
    their letter size among all headings of the document.
    """
    headings = [(page, block) for page in pages for block in page.blocks if _is_open(block)]
    if not headings:
        return tuple(pages)
    title = _title(headings)
    levels = _levels([block for _, block in headings if block is not title], title is not None)
    if title is not None:
        levels[title.id] = 1
    return tuple(
        replace(page, blocks=tuple(_with_level(b, levels.get(b.id)) for b in page.blocks))
        for page in pages
    )


def _is_open(block: Block) -> bool:
    return block.kind is BlockKind.HEADING and block.font_size is not None


def _depth(block: Block) -> int | None:
    """Depth of the heading's own number, 1 for "2", 2 for "2.1"; None when it has none."""
    number = _NUMBER.match(_TAG.sub("", block.html))
    return None if number is None else number.group(1).count(".") + 1


def _title(headings: Sequence[tuple[Page, Block]]) -> Block | None:
    first_page = headings[0][0].number
    first = [block for page, block in headings if page.number == first_page]
    best = max(first, key=lambda block: block.font_size or 0.0)
    others = [block.font_size or 0.0 for _, block in headings if block is not best]
    if _depth(best) is not None:
        return None
    if not others or (best.font_size or 0.0) > _TITLE_IS_LARGER_BY * max(others):
        return best
    return None


def _levels(headings: Sequence[Block], has_title: bool) -> dict[str, int]:
    """Level by block id; the top level is 2 below a title and 1 without one."""
    top = 2 if has_title else 1
    styles = _styles(headings)
    numbered: dict[int, list[int]] = {}
    for block in headings:
        depth = _depth(block)
        if depth is not None:
            numbered.setdefault(styles[block.id], []).append(depth)
    levels: dict[str, int] = {}
    for block in headings:
        depth = _depth(block)
        if depth is None:
            depth = _depth_of_style(styles[block.id], numbered)
        levels[block.id] = min(top + depth - 1, _DEEPEST)
    return levels


def _styles(headings: Sequence[Block]) -> dict[str, int]:
    """Rank of each heading's letter size, 0 for the largest, by block id."""
    ranked = sorted(headings, key=lambda block: -(block.font_size or 0.0))
    styles: dict[str, int] = {}
    rank, size = -1, 0.0
    for block in ranked:
        own = block.font_size or 0.0
        if rank < 0 or own * _SAME_SIZE < size:
            rank, size = rank + 1, own
        styles[block.id] = rank
    return styles


def _depth_of_style(style: int, numbered: dict[int, list[int]]) -> int:
    """Depth of an unnumbered heading: that of numbered ones of its size, else by rank."""
    if style in numbered:
        return min(numbered[style])
    larger = [min(depths) for rank, depths in numbered.items() if rank < style]
    if larger:
        return max(larger) + 1
    return style + 1 if not numbered else 1


def _with_level(block: Block, level: int | None) -> Block:
    if level is None:
        return block
    return replace(block, level=level, html=_HEADING_TAG.sub(rf"\g<1>h{level}", block.html))
