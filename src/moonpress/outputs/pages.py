"""What all outputs that show a document in reading order share.

Owns which blocks are shown, where captions and parts from later pages go, and the words for pages
that were not read. Never writes a format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

from lxml.html import HtmlElement

from moonpress.document import Block, BlockKind, Document, Page, PageStatus, RenderOptions
from moonpress.document.html import parse_fragment, sanitise, visible_text
from moonpress.outputs.continued import append_part
from moonpress.outputs.links import restore_links

PICTURE_KINDS: Final = frozenset({BlockKind.FIGURE, BlockKind.DIAGRAM, BlockKind.CHEMISTRY})
FURNITURE: Final = frozenset({BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER})


@dataclass(frozen=True, slots=True)
class Shown:
    """A block in its place, with what is to be shown along with it.

    Attributes:
        block: It.
        captions: Blocks to be shown directly under it.
        parts: Blocks of later pages that go on with it, each with the page on which it stands.
    """

    block: Block
    captions: tuple[Block, ...] = ()
    parts: tuple[tuple[Block, Page], ...] = ()

    @property
    def caption_text(self) -> str:
        """The words of the captions."""
        return " ".join(visible_text(c.html) for c in self.captions)


def needs_picture(block: Block) -> bool:
    """Whether only a crop of the page shows all of ``block``."""
    if block.kind is BlockKind.FORMULA:
        return "<math" not in block.html.lower()
    return block.kind in PICTURE_KINDS


def shown_pages(
    document: Document, options: RenderOptions
) -> Iterator[tuple[Page, tuple[Shown, ...]]]:
    """Every page with its blocks in reading order.

    Captions of pictures stand under their picture. A block that goes on on later pages stands as a
    whole where it begins.
    """
    parts = _parts(document)
    joined = {block.id for group in parts.values() for block, _ in group}
    for page in document.pages:
        yield page, tuple(_shown_blocks(page, options, parts, joined))


_Parts: TypeAlias = Mapping[str, list[tuple[Block, Page]]]


def _parts(document: Document) -> _Parts:
    """Later parts by the id of the block that begins; what names no earlier block begins anew."""
    start: dict[str, str] = {}
    parts: dict[str, list[tuple[Block, Page]]] = {}
    for page in document.pages:
        for block in page.blocks:
            first = start.get(block.continues or "")
            if first is None:
                start[block.id] = block.id
            else:
                start[block.id] = first
                parts.setdefault(first, []).append((block, page))
    return parts


def _shown_blocks(
    page: Page, options: RenderOptions, parts: _Parts, joined: AbstractSet[str]
) -> Iterator[Shown]:
    pictures = {b.id for b in page.blocks if b.kind in PICTURE_KINDS}
    captions: dict[str, list[Block]] = {}
    for block in page.blocks:
        if block.kind is BlockKind.CAPTION and block.caption_for in pictures:
            captions.setdefault(block.caption_for or "", []).append(block)
    moved = {c.id for group in captions.values() for c in group}
    for block in page.blocks:
        if block.id in moved or block.id in joined:
            continue
        if options.headers_footers or block.kind not in FURNITURE:
            yield Shown(block, tuple(captions.get(block.id, ())), tuple(parts.get(block.id, ())))


def shown_tree(shown: Shown) -> HtmlElement:
    """The HTML of a block and of its later parts, whose elements carry their id as `PART`."""
    root = block_tree(shown.block)
    for block, _ in shown.parts:
        append_part(root, block_tree(block), block.id)
    return root


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
