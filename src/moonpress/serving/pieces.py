"""A page's text in pieces, in the formats that a chat may ask for.

Owns which formats come block by block: Markdown, and layout HTML. The others are only right as a
whole, and come in one piece. Never reads anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import orjson

from moonpress.document import Block, Document, RenderOptions
from moonpress.outputs.markdown_pieces import MarkdownPieces
from moonpress.serving.answers import OutputFormat, content_of, layout_html


class Pieces(Protocol):
    """Cuts one page; all pieces together are its text."""

    def block(self, block: Block) -> str:
        """What a block adds; may be nothing."""
        ...

    def end(self, document: Document) -> Iterator[str]:
        """What comes after the blocks that were given."""
        ...


class _LayoutPieces:
    """Blocks as Chandra models write them, one a line."""

    def __init__(self) -> None:
        self._count = 0

    def block(self, block: Block) -> str:
        self._count += 1
        return f"\n{layout_html(block)}" if self._count > 1 else layout_html(block)

    def end(self, document: Document) -> Iterator[str]:
        for page in document.pages:
            for block in page.blocks[self._count :]:
                yield self.block(block)


class _OnePiece:
    """All of it in the end."""

    def __init__(self, form: OutputFormat) -> None:
        self._form = form

    def block(self, block: Block) -> str:
        del block
        return ""

    def end(self, document: Document) -> Iterator[str]:
        content = content_of(document, self._form, {})
        yield content if isinstance(content, str) else orjson.dumps(content).decode()


def pieces_of(form: OutputFormat) -> Pieces:
    """What cuts a page in this format."""
    if form == "markdown":
        return MarkdownPieces(RenderOptions())
    return _LayoutPieces() if form == "layout" else _OnePiece(form)
