"""A page's Markdown in pieces, while its blocks come in.

Owns the cutting: all pieces together are what `markdown` makes of the page. Never renders a block
itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from moonpress.document import Block, Document, RenderOptions
from moonpress.outputs.markdown import page_comments, render_shown
from moonpress.outputs.markdown_blocks import join_blocks
from moonpress.outputs.pages import FURNITURE, Shown, shown_pages


class MarkdownPieces:
    """The pieces of one page. Each is finished: nothing that comes later changes how it renders.

    That a page was read in part only stands before its text; where pieces were sent before that was
    known, it stands after them.

    Args:
        options: Which blocks are shown, and how.
    """

    def __init__(self, options: RenderOptions) -> None:
        self._options = options
        self._last = ""
        self._taken: set[str] = set()

    def block(self, block: Block) -> str:
        """What a block adds to the text: nothing where it is not shown."""
        self._taken.add(block.id)
        if block.kind in FURNITURE and not self._options.headers_footers:
            return ""
        return self._add(render_shown(Shown(block), self._options))

    def end(self, document: Document) -> Iterator[str]:
        """The pieces after those blocks that were given.

        Args:
            document: With the page alone; its first blocks are those that were given.
        """
        for page, all_shown in shown_pages(document, self._options):
            comments = page_comments(page, self._options)
            if not self._taken:
                yield self._add(comments)
            for shown in all_shown:
                if shown.block.id not in self._taken:
                    yield self._add(render_shown(shown, self._options))
            if self._taken:
                yield self._add(comments)
        if self._last:
            yield "\n"

    def _add(self, blocks: list[str]) -> str:
        if not blocks:
            return ""
        before = [self._last] if self._last else []
        text = join_blocks([*before, *blocks])
        piece = text[len(self._last) :]
        self._last = blocks[-1]
        return piece
