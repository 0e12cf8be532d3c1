"""Pages with formulas: displayed ones with fractions, sums and roots, and inline ones.

Owns a very small formula setter; every piece knows its LaTeX, so the truth is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from moonpress.document import BlockKind
from tests.generators.fonts import Face, width_of
from tests.generators.page import GeneratedPage, TruthBlock, TruthLine
from tests.generators.prose import BODY
from tests.generators.words import english_paragraph
from tests.generators.writer import Frame, PageWriter, Style

Draw = Callable[[PageWriter, float, float], None]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula.

    Attributes:
        latex: Its source.
        plain: Its characters from left to right, as a text layer has them.
        width: Points.
        up: Height above the baseline in points.
        down: Depth below it.
        draw: Draws it at x and the baseline, both in points from the bottom left of the page.
    """

    latex: str
    plain: str
    width: float
    up: float
    down: float
    draw: Draw


def sym(text: str, latex: str | None = None, size: float = 12.0) -> Piece:
    """A letter (italic) or any other characters (upright)."""
    face = Face.SERIF_ITALIC if text.isalpha() and text.isascii() else Face.SERIF
    width = width_of(text, face, size)

    def draw(page: PageWriter, x: float, base: float) -> None:
        page.canvas.setFont(face.value, size)
        page.canvas.drawString(x, base, text)

    return Piece(latex or text, text, width, size * 0.7, size * 0.22, draw)


def op(text: str, latex: str | None = None, size: float = 12.0) -> Piece:
    """An operator or relation with space around it."""
    inner = sym(text, latex, size)

    def draw(page: PageWriter, x: float, base: float) -> None:
        inner.draw(page, x + size * 0.25, base)

    return Piece(
        f" {inner.latex} ", f" {text} ", inner.width + size * 0.5, inner.up, inner.down, draw
    )


def row(*pieces: Piece) -> Piece:
    """Pieces side by side."""

    def draw(page: PageWriter, x: float, base: float) -> None:
        for piece in pieces:
            piece.draw(page, x, base)
            x += piece.width

    return Piece(
        "".join(p.latex for p in pieces),
        "".join(p.plain for p in pieces),
        sum(p.width for p in pieces),
        max(p.up for p in pieces),
        max(p.down for p in pieces),
        draw,
    )


def script(base_piece: Piece, *, sup: Piece | None = None, sub: Piece | None = None) -> Piece:
    """Raised and lowered pieces behind a base; make them with a small ``size``."""

    def draw(page: PageWriter, x: float, base: float) -> None:
        base_piece.draw(page, x, base)
        if sup:
            sup.draw(page, x + base_piece.width + 0.6, base + 5.0)
        if sub:
            sub.draw(page, x + base_piece.width + 0.6, base - 3.0)

    latex, plain = base_piece.latex, base_piece.plain
    if sub:
        latex, plain = f"{latex}_{{{sub.latex}}}", plain + sub.plain
    if sup:
        latex, plain = f"{latex}^{{{sup.latex}}}", plain + sup.plain
    extra = max((p.width for p in (sup, sub) if p), default=0.0)
    up = base_piece.up + (4.0 if sup else 0.0)
    down = base_piece.down + (3.0 if sub else 0.0)
    return Piece(latex, plain, base_piece.width + extra + 1.0, up, down, draw)


def fraction(over: Piece, under: Piece) -> Piece:
    """One piece over another with a bar between."""
    width = max(over.width, under.width) + 4

    def draw(page: PageWriter, x: float, base: float) -> None:
        page.canvas.setLineWidth(0.6)
        page.canvas.line(x, base + 3.4, x + width, base + 3.4)
        over.draw(page, x + (width - over.width) / 2, base + 3.4 + over.down + 1.2)
        under.draw(page, x + (width - under.width) / 2, base + 1.8 - under.up)

    latex = f"\\frac{{{over.latex}}}{{{under.latex}}}"
    up = 4.6 + over.up + over.down
    return Piece(latex, f"{over.plain} {under.plain}", width, up, under.up + under.down, draw)


def limits(sign: str, latex: str, below: Piece, above: Piece) -> Piece:
    """A large sign with a piece below and one above it."""
    big = sym(sign, latex, 18.0)
    width = max(big.width, below.width, above.width)

    def draw(page: PageWriter, x: float, base: float) -> None:
        big.draw(page, x + (width - big.width) / 2, base - 2.5)
        below.draw(page, x + (width - below.width) / 2, base - 13.5)
        above.draw(page, x + (width - above.width) / 2, base + 14.0)

    text = f"{latex}_{{{below.latex}}}^{{{above.latex}}}"
    plain = f"{above.plain} {sign} {below.plain}"
    return Piece(text, plain, width + 3, 22.0, 16.0, draw)


def examples() -> tuple[Piece, ...]:
    """Formulas written for these tests."""
    small = 8.0
    two = sym("2", size=small)
    mean = row(
        script(sym("m"), sub=sym("k", size=small)),
        op("="),
        fraction(sym("1"), sym("n")),
        limits(
            "∑", "\\sum", row(sym("i", size=small), sym("=1", size=small)), sym("n", size=small)
        ),
        script(sym("x"), sub=sym("i", size=small), sup=sym("k", size=small)),
    )
    circle = row(
        script(sym("x"), sup=two), op("+"), script(sym("y"), sup=two), op("="),
        script(sym("r"), sup=two),
    )  # fmt: skip
    area = row(
        sym("A"), op("="),
        limits("∫", "\\int", sym("a", size=small), sym("b", size=small)),
        sym("f"), sym("("), sym("t"), sym(")"), sym("d"), sym("t"),
    )  # fmt: skip
    ratio = row(
        sym("α", "\\alpha"), op("≤", "\\leq"),
        fraction(row(sym("λ", "\\lambda "), op("+"), sym("1")), row(sym("2"), sym("μ", "\\mu"))),
    )  # fmt: skip
    return (mean, circle, area, ratio)


def displayed(seed: int = 21) -> GeneratedPage:
    """Four numbered display formulas between paragraphs."""
    rng = Random(seed)
    page = PageWriter("formulas")
    frame = page.frame()
    for number, piece in enumerate(examples(), start=1):
        page.text(english_paragraph(rng, 45), frame, BODY, gap=10)
        page.blocks.append(_display(page, frame, piece, number))
    page.text(english_paragraph(rng, 45), frame, BODY)
    return page.finish()


def inline(seed: int = 22) -> GeneratedPage:
    """Paragraphs of which each holds one formula in its second line.

    The truth's text has the formula's plain characters; ``latex`` of the block is the formula.
    """
    rng = Random(seed)
    page = PageWriter("inline-formulas")
    frame = page.frame()
    style = Style(size=11, leading=16)
    for piece in (examples()[1], examples()[3]) * 2:
        first = page.set_lines(_short(rng), frame, style)
        words = _short(rng).split(" ")
        before, after = " ".join(words[:4]) + " ", " " + " ".join(words[4:7])
        mixed = _mixed_line(page, frame, (before, piece, after), style)
        lines = (*first, mixed)
        box = page.box(frame.left, first[0].bbox.y0 * page.height, frame.left + frame.width, page.y)
        text = " ".join(line.text for line in lines)
        page.blocks.append(TruthBlock(BlockKind.TEXT, text, box, lines, latex=piece.latex))
        page.y += 12
    return page.finish()


def _short(rng: Random) -> str:
    return " ".join(english_paragraph(rng, 10).split(" ")[:10])


def _mixed_line(
    page: PageWriter, frame: Frame, parts: tuple[str, Piece, str], style: Style
) -> TruthLine:
    before, piece, after = parts
    page.y += piece.up - 8
    top = page.y
    base = page.height - top - style.size * 0.75
    start = page.line(before, frame.left, top, style)
    x = start.bbox.x1 * page.width
    piece.draw(page, x, base)
    end = page.line(after, x + piece.width, top, style)
    page.y += style.leading + piece.down
    box = page.box(frame.left, top - piece.up + 8, end.bbox.x1 * page.width, page.y)
    return TruthLine(f"{before}{piece.plain}{after}", box)


def _display(page: PageWriter, frame: Frame, piece: Piece, number: int) -> TruthBlock:
    left = frame.left + (frame.width - piece.width) / 2
    base = page.height - page.y - piece.up
    piece.draw(page, left, base)
    label = f"({number})"
    style = Style(size=11)
    right = frame.left + frame.width - width_of(label, style.face, style.size)
    page.line(label, right, page.y + piece.up - style.size * 0.75, style)
    top = page.y
    page.y += piece.up + piece.down
    box = page.box(left, top, left + piece.width, page.y)
    page.y += 12
    return TruthBlock(BlockKind.FORMULA, piece.plain, box, latex=piece.latex)
