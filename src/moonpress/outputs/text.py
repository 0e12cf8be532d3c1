"""The plain text output: words in reading order, nothing to render.

Owns how structure shows in plain text. Tables are rows of tab-separated cells; a merged cell stands
once, at its top left, and the other fields it covers stay empty, so columns line up. Formulas are
LaTeX without marks. Never writes files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lxml.html import HtmlElement

from moonpress.document import Document, Page, RenderOptions
from moonpress.document.html import is_block, tag_of
from moonpress.outputs.latex import bare_latex
from moonpress.outputs.markdown_blocks import code_text, list_items
from moonpress.outputs.pages import (
    Shown,
    block_tree,
    page_remark,
    shown_pages,
    shown_tree,
    take_pictures,
)
from moonpress.outputs.tables import read_grid
from moonpress.outputs.tokens import Kind, Token, plain, tokenise, tokenise_run

# Begins a page for printers and for programs that read the output of pdftotext.
_FORM_FEED: Final = "\f"


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Renders documents as plain text."""

    name: str = "text"
    suffix: str = ".txt"

    def render(self, document: Document, options: RenderOptions) -> str:
        """The whole document; with ``page_anchors``, a form feed begins every page."""
        start = _FORM_FEED if options.page_anchors else ""
        pages = [f"{start}{_page(page, shown)}" for page, shown in shown_pages(document, options)]
        text = "\n\n".join(page for page in pages if page)
        return f"{text}\n" if text else ""


def _page(page: Page, blocks_shown: Sequence[Shown]) -> str:
    remark = page_remark(page)
    blocks = [f"[{remark}]"] if remark else []
    for shown in blocks_shown:
        blocks += _block(shown)
    return "\n\n".join(blocks)


def _block(shown: Shown) -> list[str]:
    root = shown_tree(shown)
    described = take_pictures(root)
    blocks = [f"[Figure: {described}]"] if described else []
    blocks += text_blocks(root)
    for caption in shown.captions:
        blocks += text_blocks(block_tree(caption))
    return blocks


def text_blocks(element: HtmlElement) -> list[str]:
    """What stands inside ``element`` as blocks of plain text."""
    blocks: list[str] = []
    run: list[HtmlElement | str] = [element.text or ""]
    for child in element:
        if is_block(child) or any(is_block(e) for e in child.iterdescendants()):
            blocks += _lines(tokenise_run(run))
            blocks += _element(child)
            run = []
        else:
            run.append(child)
        run.append(child.tail or "")
    return blocks + _lines(tokenise_run(run))


def _element(element: HtmlElement) -> list[str]:
    tag = tag_of(element)
    if tag == "table":
        return _table(element)
    if tag in {"ul", "ol"}:
        text = "\n".join(_list(element))
    elif tag == "pre":
        text = code_text(element).strip("\n")
    elif tag == "math":
        text = bare_latex(element.text_content())
    else:
        return text_blocks(element)
    return [text] if text.strip() else []


def _list(element: HtmlElement) -> list[str]:
    lines: list[str] = []
    for marker, elements in list_items(element):
        blocks = [
            block
            for part in elements
            for block in (_element(part) if tag_of(part) in {"ul", "ol"} else text_blocks(part))
        ]
        indent = " " * (len(marker) + 1)
        text = "\n".join(blocks).replace("\n", f"\n{indent}")
        lines.append(f"{marker} {text}")
    return lines


def _table(element: HtmlElement) -> list[str]:
    grid = read_grid(element)
    rows = [[""] * grid.columns for _ in range(grid.rows)]
    for cell in grid.cells:
        rows[cell.row][cell.column] = plain(_bare(tokenise(cell.element)))
    text = "\n".join("\t".join(row) for row in rows)
    caption = [] if grid.caption is None else _lines(tokenise(grid.caption))
    return [*caption, text] if text.strip() else caption


def _lines(tokens: list[Token]) -> list[str]:
    """Running text, a line for each break."""
    lines: list[list[Token]] = [[]]
    for token in _bare(tokens):
        if token.kind is Kind.BREAK:
            lines.append([])
        else:
            lines[-1].append(token)
    text = "\n".join(plain(line) for line in lines)
    return [text] if text.strip() else []


def _bare(tokens: list[Token]) -> list[Token]:
    return [Token(t.kind, bare_latex(t.value)) if t.kind is Kind.MATH else t for t in tokens]


OUTPUT = TextOutput()
