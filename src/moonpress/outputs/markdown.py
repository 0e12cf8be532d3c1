"""The Markdown output: CommonMark with GitHub's tables, task lists and formulas.

Owns what each kind of block looks like in Markdown. Never writes files, and never renders HTML
itself: see `markdown_blocks`, `markdown_tables` and `inline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpress.document import BlockKind, Document, Page, RenderOptions
from moonpress.outputs.inline import InlineStyle, Place, link_target, render_inline
from moonpress.outputs.markdown_blocks import (
    join_blocks,
    render_blocks,
    render_code,
    render_heading,
)
from moonpress.outputs.pages import (
    Shown,
    block_tree,
    needs_picture,
    page_remark,
    shown_pages,
    shown_tree,
    take_pictures,
)
from moonpress.outputs.tokens import Kind, Token, tidy

_DEFAULT_LEVEL: Final = 2


@dataclass(frozen=True, slots=True)
class MarkdownOutput:
    """Renders documents as Markdown."""

    name: str = "markdown"
    suffix: str = ".md"

    def render(self, document: Document, options: RenderOptions) -> str:
        """The whole document; ends with a line break unless it is empty."""
        blocks: list[str] = []
        for page, shown in shown_pages(document, options):
            blocks += _page(page, shown, options)
        text = join_blocks(blocks)
        return f"{text}\n" if text else ""


def _page(page: Page, blocks_shown: Sequence[Shown], options: RenderOptions) -> list[str]:
    blocks = page_comments(page, options)
    for shown in blocks_shown:
        blocks += render_shown(shown, options)
    return blocks


def page_comments(page: Page, options: RenderOptions) -> list[str]:
    """What stands before a page's own blocks: its anchor, and that it was not read wholly."""
    blocks = [f'<a id="p{page.number}"></a>'] if options.page_anchors else []
    remark = page_remark(page)
    if remark:
        blocks.append(_comment(remark))
    return blocks


def render_shown(shown: Shown, options: RenderOptions) -> list[str]:
    """One block with what is shown along with it, as blocks of Markdown."""
    block = shown.block
    style = InlineStyle(options.delimiters, page_links=options.page_anchors)
    if needs_picture(block):
        return _picture(shown, options, style)
    root = shown_tree(shown)
    if block.kind is BlockKind.BLANK:
        return []
    if block.kind is BlockKind.HEADING:
        return _heading(shown, style)
    if block.kind is BlockKind.CODE and root.find(".//pre") is None:
        return render_code(root)
    return render_blocks(root, style)


def _heading(shown: Shown, style: InlineStyle) -> list[str]:
    """One heading for each element of the block, at the level that holds for the document."""
    block = shown.block
    root = block_tree(block)
    elements = list(root) if len(root) and not (root.text or "").strip() else [root]
    if any((e.tail or "").strip() for e in elements):
        elements = [root]
    headings: list[str] = []
    for element in elements:
        tag = str(element.tag)
        own = int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit() else None
        headings += render_heading(element, block.level or own or _DEFAULT_LEVEL, style)
    return headings


def _picture(shown: Shown, options: RenderOptions, style: InlineStyle) -> list[str]:
    """The crop, the text in it, and its captions; its description in words where no crop is."""
    block = shown.block
    root = block_tree(block)
    described = take_pictures(root)
    blocks = render_blocks(root, style)
    link = options.figures.get(block.id)
    if link:
        words = described or shown.caption_text
        blocks.insert(0, f"![{_words(words, Place.LABEL, style)}]({link_target(link)})")
    elif described:
        blocks.insert(0, _words(f"[Figure: {described}]", Place.PARAGRAPH, style))
    elif not blocks:
        blocks.append(_comment(f"{block.kind} {block.id} without text"))
    for caption in shown.captions:
        blocks += render_blocks(block_tree(caption), style)
    return blocks


def _words(text: str, place: Place, style: InlineStyle) -> str:
    return render_inline(tidy([Token(Kind.TEXT, text)]), place, style)


def _comment(text: str) -> str:
    """A comment that shows in the file and not on the page; two hyphens would end it."""
    return f"<!-- {text.replace('--', '- -')} -->"


OUTPUT = MarkdownOutput()
