"""Pages of running text: one to three columns, headings, headers and footers, footnotes, scripts.

Owns these kinds of page.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from moonpress.document import BBox, BlockKind
from tests.generators.fonts import Face, width_of
from tests.generators.page import GeneratedPage, TruthBlock, TruthLine
from tests.generators.words import (
    chinese_paragraph,
    chinese_phrase,
    english_paragraph,
    english_title,
)
from tests.generators.writer import LETTER, Frame, PageWriter, Style, wrap

BODY = Style(indent=14.0, justify=True, hyphenate=True)
PLAIN = Style()
TITLE = Style(face=Face.SERIF_BOLD, size=18, leading=23, centre=True)
HEADING = {
    1: Style(face=Face.SERIF_BOLD, size=14.5, leading=19),
    2: Style(face=Face.SERIF_BOLD, size=12, leading=16),
    3: Style(face=Face.SERIF_ITALIC, size=10.5, leading=14),
}
HEI = Style(face=Face.HEI, size=10.5, leading=17)


def one_column(seed: int = 1) -> GeneratedPage:
    """A title and paragraphs, justified, first lines indented, words hyphenated."""
    rng = Random(seed)
    page = PageWriter("one-column")
    frame = page.frame()
    page.text(english_title(rng, 5), frame, TITLE, BlockKind.HEADING, level=1, gap=14)
    while page.y < frame.bottom - 110:
        page.text(english_paragraph(rng, rng.randint(45, 90)), frame, BODY, gap=2)
    return page.finish()


def ragged(seed: int = 2) -> GeneratedPage:
    """Paragraphs parted by space, neither indented nor hyphenated, in a sans face on letter."""
    rng = Random(seed)
    page = PageWriter("ragged", size=LETTER)
    frame = page.frame()
    while page.y < frame.bottom - 100:
        page.text(english_paragraph(rng, rng.randint(40, 70)), frame, Style(Face.SANS, 10, 13))
    return page.finish()


def columns(count: int = 2, seed: int = 3, size: float = 9.0) -> GeneratedPage:
    """``count`` columns under a title that spans them; paragraphs run on from one to the next."""
    rng = Random(seed)
    page = PageWriter(f"{count}-columns")
    whole = page.frame(margin=50)
    page.text(english_title(rng, 6), whole, TITLE, BlockKind.HEADING, level=1, gap=12)
    gutter = 20.0
    width = (whole.width - gutter * (count - 1)) / count
    frames = [
        Frame(whole.left + i * (width + gutter), page.y, width, whole.bottom) for i in range(count)
    ]
    style = Style(size=size, leading=size * 1.22, indent=10, justify=True, hyphenate=True)
    flow(page, frames, style, rng)
    return page.finish()


def headings(seed: int = 4) -> GeneratedPage:
    """Numbered headings of three levels."""
    rng = Random(seed)
    page = PageWriter("headings")
    frame = page.frame()
    page.text(english_title(rng, 5), frame, TITLE, BlockKind.HEADING, level=1, gap=12)
    for chapter in (1, 2):
        _numbered(page, frame, rng, f"{chapter}", 2)
        page.text(english_paragraph(rng, 40), frame, BODY)
        for section in (1, 2):
            _numbered(page, frame, rng, f"{chapter}.{section}", 3)
            page.text(english_paragraph(rng, 45), frame, BODY)
    return page.finish()


def header_footer(number: int = 7, seed: int = 5) -> GeneratedPage:
    """A running head that is the same for all numbers, a page number below, prose between."""
    page = PageWriter("header-footer", y=34)
    frame = Frame(62, 34, page.width - 124, page.height - 80)
    small = Style(face=Face.SERIF_ITALIC, size=9, leading=12)
    head = english_title(Random(seed), 5)
    page.text(head, frame, small, BlockKind.PAGE_HEADER, gap=0)
    page.canvas.line(62, page.height - page.y, page.width - 62, page.height - page.y)
    page.y = 74
    rng = Random(seed * 1000 + number)
    while page.y < frame.bottom - 100:
        page.text(english_paragraph(rng, rng.randint(50, 80)), frame, BODY, gap=2)
    page.y = page.height - 48
    foot = Frame(62, page.y, page.width - 124, page.height)
    page.text(str(number), foot, Style(size=9.5, centre=True), BlockKind.PAGE_FOOTER)
    return page.finish()


def footnotes(seed: int = 6) -> GeneratedPage:
    """Prose with raised note marks and two footnotes under a short rule."""
    rng = Random(seed)
    page = PageWriter("footnotes")
    frame = Frame(62, 60, page.width - 124, page.height - 130)
    marks = 0
    while page.y < frame.bottom - 110:
        text = english_paragraph(rng, 55)
        block = page.text(text, frame, PLAIN)
        if marks < 2:
            marks += 1
            _raise_mark(page, block, str(marks))
    page.y = page.height - 118
    page.canvas.line(62, page.height - page.y + 4, 160, page.height - page.y + 4)
    below = Frame(62, page.y, frame.width, page.height - 40)
    for mark in range(1, marks + 1):
        note = f"{mark} {english_paragraph(rng, 12)}"
        page.text(note, below, Style(size=8, leading=10), BlockKind.FOOTNOTE, gap=2)
    return page.finish()


def chinese(seed: int = 7) -> GeneratedPage:
    """A Chinese title and paragraphs."""
    rng = Random(seed)
    page = PageWriter("chinese", language="zh")
    frame = page.frame()
    title = Style(face=Face.HEI, size=18, leading=26, centre=True)
    page.text(chinese_phrase(rng), frame, title, BlockKind.HEADING, level=1, gap=12)
    while page.y < frame.bottom - 120:
        page.text(chinese_paragraph(rng, rng.randint(90, 150)), frame, HEI)
    return page.finish()


def chinese_columns(seed: int = 8) -> GeneratedPage:
    """Two columns of small Chinese."""
    rng = Random(seed)
    page = PageWriter("chinese-2-columns", language="zh")
    whole = page.frame(margin=50)
    width = (whole.width - 22) / 2
    style = Style(face=Face.HEI, size=9, leading=14)
    for left in (whole.left, whole.left + width + 22):
        page.y = whole.top
        frame = Frame(left, whole.top, width, whole.bottom)
        while page.y < frame.bottom - 110:
            page.text(chinese_paragraph(rng, rng.randint(60, 110)), frame, style)
    return page.finish()


def chinese_latin(seed: int = 9) -> GeneratedPage:
    """Chinese with Latin words and figures in it."""
    rng = Random(seed)
    page = PageWriter("chinese-latin", language="zh+en")
    frame = page.frame()
    while page.y < frame.bottom - 120:
        latin = f"{english_title(rng, 2).split()[0]} {rng.randint(10, 99)}"
        share = f"{rng.randint(1, 99)}.{rng.randint(0, 9)}%"
        text = (
            f"{chinese_paragraph(rng, 40)[:-1]}（{latin}），{chinese_paragraph(rng, 20)}"
            f"结果是 {share}，{chinese_paragraph(rng, 20)}"
        )
        page.text(text, frame, HEI)
    return page.finish()


def flow(page: PageWriter, frames: Sequence[Frame], style: Style, rng: Random) -> None:
    """Fill ``frames`` one after the other with paragraphs; one may go on in the next frame."""
    queue: list[str] = []
    printed: list[TruthLine] = []
    text = ""
    for frame in frames:
        page.y = frame.top
        while page.y + style.leading <= frame.bottom:
            if not queue:
                text = english_paragraph(rng, rng.randint(35, 80))
                queue, printed = wrap(text, frame.width, style), []
            printed.append(_justified(page, queue, frame, style, first=not printed))
            if not queue:
                page.blocks.append(_paragraph(text, printed))
    if queue:
        shown = [line.text for line in printed]
        page.blocks.append(_paragraph(_rejoined(shown), printed))


def _justified(
    page: PageWriter, queue: list[str], frame: Frame, style: Style, *, first: bool
) -> TruthLine:
    row = queue.pop(0)
    indent = style.indent if first else 0.0
    slack = frame.width - indent - width_of(row, style.face, style.size)
    spaces = row.count(" ")
    extra = slack / spaces if queue and spaces else 0.0
    line = page.line(row, frame.left + indent, page.y, style, extra)
    page.y += style.leading
    return line


def _paragraph(text: str, lines: list[TruthLine]) -> TruthBlock:
    return TruthBlock(BlockKind.TEXT, text, BBox.union(x.bbox for x in lines), tuple(lines))


def _rejoined(rows: list[str]) -> str:
    """The text of the rows that were printed of a paragraph cut off at the end of the page."""
    text = ""
    for row in rows:
        hyphenated = row.endswith("-") and row is not rows[-1]
        text += row[:-1] if hyphenated else f"{row} "
    return text.rstrip()


def _numbered(page: PageWriter, frame: Frame, rng: Random, number: str, level: int) -> None:
    title = f"{number} {english_title(rng, 4)}"
    page.text(title, frame, HEADING[level - 1], BlockKind.HEADING, level=level, gap=4)


def _raise_mark(page: PageWriter, block: TruthBlock, mark: str) -> None:
    """Print a note mark behind the last word of ``block``; the truth's text stays without it."""
    box = block.lines[-1].bbox
    page.line(mark, box.x1 * page.width + 0.5, box.y0 * page.height - 2.0, Style(size=6.5))
