"""What stands on a page: blocks, their kinds, and links.

Owns the block types. Never renders: Markdown and text are derived from `Block.html` by outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from moonpress.document.geometry import BBox


class BlockKind(StrEnum):
    """The kinds of block, one name each over all engines."""

    HEADING = "heading"
    TEXT = "text"
    LIST = "list"
    TABLE = "table"
    FORMULA = "formula"
    FIGURE = "figure"
    CAPTION = "caption"
    CODE = "code"
    FORM = "form"
    FOOTNOTE = "footnote"
    PAGE_HEADER = "page_header"
    PAGE_FOOTER = "page_footer"
    CONTENTS = "contents"
    BIBLIOGRAPHY = "bibliography"
    CHEMISTRY = "chemistry"
    DIAGRAM = "diagram"
    COMPLEX = "complex"
    BLANK = "blank"


class TextOrigin(StrEnum):
    """Where the text of a block comes from."""

    TEXT_LAYER = "text_layer"
    OCR = "ocr"
    MODEL = "model"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink that lies on a block.

    Attributes:
        href: Target; ``#p7`` for a page of the same document.
        bbox: Where the link can be clicked, in page fractions.
        text: The words under the box where they are known.
    """

    href: str
    bbox: BBox
    text: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page, in reading order within `Page.blocks`.

    Attributes:
        id: Stable within the document: ``p3-b12`` is the 12th block of page 3 (both 1-based).
        kind: What it is.
        bbox: Page fractions, origin top left.
        html: Sanitised inner HTML; the truth from which every output derives. By kind: text
            ``<p>``, heading ``<h1>``..``<h6>``, list ``<ul>``/``<ol>``, table ``<table>`` (with
            colspan and rowspan), formula ``<math display="block">`` with LaTeX inside, or ``<p>``
            with the raw text where no LaTeX is known; figure ``<img alt="...">`` and any text in
            it, code ``<pre><code>``. Inline formulas are ``<math>`` with LaTeX inside.
        level: Heading level 1-6 over the whole document; ``None`` elsewhere.
        confidence: 0 to 1, or ``None`` where the engine has none.
        links: Hyperlinks on it.
        origin: Where its text comes from.
        font_size: Median size of its letters in points, where known; headings are levelled by it.
        caption_for: Id of the figure or table that this caption belongs to.
        continues: Id of the paragraph or table, at the end of an earlier page, that goes on here.
            Both blocks stay as they were read, each with the box on its own page; outputs for
            readers show them as one, at the place of the first.
    """

    id: str
    kind: BlockKind
    bbox: BBox
    html: str
    level: int | None = None
    confidence: float | None = None
    links: tuple[Link, ...] = ()
    origin: TextOrigin = TextOrigin.MODEL
    font_size: float | None = None
    caption_for: str | None = None
    continues: str | None = None
