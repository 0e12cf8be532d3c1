"""What a generated page is: PDF bytes, and everything that stands on them.

Owns the truth types. Never draws; see `tests.generators.writer`.
"""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2 as pdfium

from moonpress.document import BBox, BlockKind


@dataclass(frozen=True, slots=True)
class TruthLine:
    """One printed line; ``bbox`` is in fractions of the page, as everywhere here."""

    text: str
    bbox: BBox


@dataclass(frozen=True, slots=True)
class TruthCell:
    """One cell of a table; rows and columns count from 0."""

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1


@dataclass(frozen=True, slots=True)
class TruthTable:
    """A table as its cells; ``style`` says how it is ruled."""

    rows: int
    columns: int
    cells: tuple[TruthCell, ...]
    style: str

    @property
    def has_spans(self) -> bool:
        """Whether any cell covers more than one row or column."""
        return any(c.row_span > 1 or c.column_span > 1 for c in self.cells)

    def to_html(self) -> str:
        """Plain ``<table>`` markup, for TEDS."""
        rows = []
        for row in range(self.rows):
            cells = []
            for cell in sorted((c for c in self.cells if c.row == row), key=lambda c: c.column):
                spans = "".join(
                    f' {name}="{count}"'
                    for name, count in (("rowspan", cell.row_span), ("colspan", cell.column_span))
                    if count > 1
                )
                cells.append(f"<td{spans}>{html.escape(cell.text)}</td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"


@dataclass(frozen=True, slots=True)
class TruthBlock:
    """One block, in reading order within its page.

    Attributes:
        kind: What it is.
        text: Its text with lines joined and hyphenation undone; empty for figures. List items are
            parted by a line break, cells of a table by tabs and line breaks.
        bbox: Around it.
        lines: As printed, hyphens and all.
        level: Heading level, or nesting depth is not recorded here: see ``depths``.
        depths: Nesting depth from 0 of each item of a list.
        table: For tables.
        latex: For formulas.
    """

    kind: BlockKind
    text: str
    bbox: BBox
    lines: tuple[TruthLine, ...] = ()
    level: int | None = None
    depths: tuple[int, ...] = ()
    table: TruthTable | None = None
    latex: str | None = None


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """A one-page PDF with its truth.

    Attributes:
        name: Kind and variant, such as ``two-columns``.
        pdf: The file.
        width_pt: Page width in points.
        height_pt: Page height in points.
        blocks: In reading order.
        language: ``en``, ``zh`` or ``zh+en``.
    """

    name: str
    pdf: bytes
    width_pt: float
    height_pt: float
    blocks: tuple[TruthBlock, ...]
    language: str = "en"

    @property
    def lines(self) -> tuple[TruthLine, ...]:
        """All printed lines, in reading order."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def body(self) -> tuple[TruthBlock, ...]:
        """Blocks without page headers and footers, which outputs leave out by default."""
        outside = (BlockKind.PAGE_HEADER, BlockKind.PAGE_FOOTER)
        return tuple(b for b in self.blocks if b.kind not in outside)

    @property
    def text(self) -> str:
        """The body's text in reading order, one block a paragraph."""
        return "\n\n".join(b.text for b in self.body if b.text)

    @property
    def tables(self) -> tuple[TruthTable, ...]:
        """Tables in reading order."""
        return tuple(b.table for b in self.blocks if b.table is not None)

    def of_kind(self, kind: BlockKind) -> tuple[TruthBlock, ...]:
        """Blocks of one kind, in reading order."""
        return tuple(b for b in self.blocks if b.kind is kind)


def join_pages(pages: Sequence[GeneratedPage]) -> bytes:
    """One PDF with all ``pages`` after each other."""
    target = pdfium.PdfDocument.new()
    for page in pages:
        with pdfium.PdfDocument(page.pdf) as source:
            target.import_pages(source)
    buffer = io.BytesIO()
    target.save(buffer)
    target.close()
    return buffer.getvalue()
