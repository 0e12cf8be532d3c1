"""A small typesetter that records what it prints.

Owns drawing on a reportlab canvas from the top of the page downwards, and the truth that comes of
it. Never chooses words: the kinds of page in the sibling modules do.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace

from reportlab.pdfgen import canvas

from moonpress.document import BBox, BlockKind
from tests.generators import fonts
from tests.generators.fonts import Face
from tests.generators.page import GeneratedPage, TruthBlock, TruthLine

A4 = (595.28, 841.89)
LETTER = (612.0, 792.0)
_ASCENT = 0.75
_DESCENT = 0.25


@dataclass(frozen=True, slots=True)
class Style:
    """How text is set; ``size``, ``leading`` and ``indent`` are in points."""

    face: Face = Face.SERIF
    size: float = 10.5
    leading: float = 13.5
    indent: float = 0.0
    justify: bool = False
    hyphenate: bool = False
    centre: bool = False

    def sized(self, size: float) -> Style:
        """The same at another size."""
        return replace(self, size=size, leading=size * 1.28)


@dataclass(frozen=True, slots=True)
class Frame:
    """A column to write in: points from the page's top left corner."""

    left: float
    top: float
    width: float
    bottom: float


@dataclass(slots=True)
class PageWriter:
    """One page being written.

    ``y`` is the distance in points of the next line's top from the top of the page; blocks are
    recorded in the order in which they are written, so write in reading order.
    """

    name: str
    size: tuple[float, float] = A4
    language: str = "en"
    y: float = 60.0
    blocks: list[TruthBlock] = field(default_factory=list)
    _buffer: io.BytesIO = field(default_factory=io.BytesIO)
    _canvas: canvas.Canvas | None = None

    @property
    def canvas(self) -> canvas.Canvas:
        """The reportlab canvas; its origin is the bottom left corner."""
        if self._canvas is None:
            fonts.register()
            self._canvas = canvas.Canvas(self._buffer, pagesize=self.size, invariant=1)
        return self._canvas

    @property
    def width(self) -> float:
        """Page width in points."""
        return self.size[0]

    @property
    def height(self) -> float:
        """Page height in points."""
        return self.size[1]

    def frame(self, margin: float = 62.0) -> Frame:
        """The whole page within margins, from the current height on."""
        return Frame(margin, self.y, self.width - 2 * margin, self.height - margin)

    def box(self, left: float, top: float, right: float, bottom: float) -> BBox:
        """Page fractions of a box in points from the top left corner."""
        return BBox.ordered(
            left / self.width, top / self.height, right / self.width, bottom / self.height
        )

    def line(
        self, text: str, left: float, top: float, style: Style, extra: float = 0.0
    ) -> TruthLine:
        """Print one line; ``extra`` points are added to each space."""
        baseline = self.height - top - style.size * _ASCENT
        run = self.canvas.beginText(left, baseline)
        run.setFont(style.face.value, style.size)
        run.setWordSpace(0)
        width = fonts.width_of(text, style.face, style.size)
        if extra:
            # Word spacing has no effect on fonts of two-byte codes: place each word by itself.
            x = left
            for word in text.split(" "):
                run.setTextOrigin(x, baseline)
                run.textOut(word)
                x += fonts.width_of(f"{word} ", style.face, style.size) + extra
            width += extra * text.count(" ")
        else:
            run.textOut(text)
        self.canvas.drawText(run)
        bottom = top + style.size * (_ASCENT + _DESCENT)
        return TruthLine(text, self.box(left, top, left + width, bottom))

    def text(
        self,
        text: str,
        frame: Frame,
        style: Style,
        kind: BlockKind = BlockKind.TEXT,
        *,
        level: int | None = None,
        gap: float = 7.0,
    ) -> TruthBlock:
        """Set a paragraph at ``y`` and move ``y`` below it.

        Raises:
            ValueError: it does not fit above ``frame.bottom``.
        """
        lines = self.set_lines(text, frame, style)
        block = TruthBlock(kind, text, BBox.union(x.bbox for x in lines), tuple(lines), level)
        self.blocks.append(block)
        self.y += gap
        return block

    def set_lines(self, text: str, frame: Frame, style: Style) -> list[TruthLine]:
        """Print ``text`` in lines at ``y`` without recording a block."""
        printed = []
        rows = wrap(text, frame.width, style)
        if self.y + len(rows) * style.leading > frame.bottom + style.leading:
            raise ValueError(f"{self.name}: {len(rows)} lines do not fit below {self.y:.0f} pt")
        for number, row in enumerate(rows):
            indent = style.indent if number == 0 else 0.0
            slack = frame.width - indent - fonts.width_of(row, style.face, style.size)
            left = frame.left + indent + (slack / 2 if style.centre else 0.0)
            spaces = row.count(" ")
            last = number == len(rows) - 1
            extra = slack / spaces if style.justify and spaces and not last else 0.0
            printed.append(self.line(row, left, self.y, style, extra))
            self.y += style.leading
        return printed

    def finish(self) -> GeneratedPage:
        """Close the page."""
        self.canvas.showPage()
        self.canvas.save()
        return GeneratedPage(
            self.name,
            self._buffer.getvalue(),
            self.width,
            self.height,
            tuple(self.blocks),
            self.language,
        )


def wrap(text: str, width: float, style: Style) -> list[str]:
    """Break ``text`` into lines of at most ``width`` points.

    Latin words break at spaces, and with ``style.hyphenate`` also inside long words after a vowel
    and before a consonant; Chinese breaks between any two characters but before closing and after
    opening punctuation.
    """
    rows: list[str] = []
    row = ""
    room = width - style.indent
    for piece in _pieces(text):
        if fonts.width_of((row + piece).rstrip(), style.face, style.size) <= room:
            row += piece
            continue
        head = _hyphenated(row, piece, room, style) if style.hyphenate else ""
        rows.append(f"{row}{head}-" if head else row.rstrip())
        row = piece[len(head) :] if head else piece
        room = width
    if row.strip():
        rows.append(row.rstrip())
    return rows


def _pieces(text: str) -> list[str]:
    """Unbreakable pieces: words with the space behind them, Chinese characters one by one."""
    pieces: list[str] = []
    for char in text:
        chinese = ord(char) >= 0x2E80
        closing = char in "，。？！：；）》”、"
        if closing and pieces:
            pieces[-1] += char
        elif chinese or not pieces or pieces[-1].endswith(" ") or ord(pieces[-1][-1]) >= 0x2E80:
            pieces.append(char)
        else:
            pieces[-1] += char
    return pieces


def _hyphenated(row: str, piece: str, room: float, style: Style) -> str:
    """The longest head of ``piece`` that fits with a hyphen and leaves three letters over."""
    word = piece.strip(" .,;:()")
    if not word.isalpha() or not piece.startswith(word) or len(word) < 7:
        return ""
    for cut in range(len(word) - 3, 2, -1):
        fits = fonts.width_of(f"{row}{word[:cut]}-", style.face, style.size) <= room
        if fits and word[cut - 1] in "aeiou" and word[cut] not in "aeiou":
            return word[:cut]
    return ""
