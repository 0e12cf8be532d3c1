"""What all outputs that show a document in reading order share.

Owns which blocks are shown, where captions go, and the words for pages that were not read. Never
writes a format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lxml.html import HtmlElement

from moonpress.document import Block, BlockKind, Page, PageStatus, RenderOptions
from moonpress.document.html import parse_fragment, sanitise, visible_text
from moonpress.outputs.links import restore_links

PICTURE_KINDS: Final = frozenset({BlockKind.FIGURE, BlockKind.DIAGRAM, BlockKind.CHEMISTRY})
_FURNITURE: Final = frozenset({BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER})


@dataclass(frozen=True, slots=True)
class Shown:
    """A block in its place, with the captions to be shown directly under it."""

    block: Block
    captions: tuple[Block, ...] = ()

    @property
    def caption_text(self) -> str:
        """The words of the captions."""
        return " ".join(visible_text(c.html) for c in self.captions)


def needs_picture(block: Block) -> bool:
    """Whether only a crop of the page shows all of ``block``."""
    if block.kind is BlockKind.FORMULA:
        return "<math" not in block.html.lower()
    return block.kind in PICTURE_KINDS


def shown_blocks(page: Page, options: RenderOptions) -> list[Shown]:
    """Blocks of a page in reading order; captions of pictures stand under their picture."""
    pictures = {b.id for b in page.blocks if b.kind in PICTURE_KINDS}
    captions: dict[str, list[Block]] = {}
    for block in page.blocks:
        if block.kind is BlockKind.CAPTION and block.caption_for in pictures:
            captions.setdefault(block.caption_for or "", []).append(block)
    moved = {c.id for group in captions.values() for c in group}
    return [
        Shown(block, tuple(captions.get(block.id, ())))
        for block in page.blocks
        if block.id not in moved and _is_shown(block, options)
    ]


def _is_shown(block: Block, options: RenderOptions) -> bool:
    return options.headers_footers or block.kind not in _FURNITURE


def block_tree(block: Block) -> HtmlElement:
    """A block's HTML, cleaned once more and with its links put back, under one ``div``."""
    root = parse_fragment(sanitise(block.html))
    restore_links(root, block.links)
    return root


def page_remark(page: Page) -> str:
    """One line for a page that was not read, or not wholly; empty for others."""
    verb = {PageStatus.FAILED: "could not be read", PageStatus.PARTIAL: "was read in part only"}
    if page.status not in verb:
        return ""
    reason = "; ".join(p.message for p in page.problems)
    return " ".join(
        f"page {page.number} {verb[page.status]}: {reason or 'no reason given'}".split()
    )


def take_pictures(root: HtmlElement) -> str:
    """Remove the pictures of a block and return their descriptions."""
    pictures: Sequence[HtmlElement] = [e for e in root.iter() if e.tag == "img"]
    described = [" ".join(p.get("alt", "").split()) for p in pictures]
    for picture in pictures:
        picture.drop_tree()
    return " ".join(d for d in described if d)
