"""Pages with lists, code, a figure, a form.

Owns these kinds of page.
"""

from __future__ import annotations

from random import Random

from moonpress.document import BBox, BlockKind
from tests.generators.fonts import Face
from tests.generators.page import GeneratedPage, TruthBlock, TruthLine
from tests.generators.prose import BODY, HEADING, PLAIN
from tests.generators.words import english_paragraph, english_phrase, english_title
from tests.generators.writer import Frame, PageWriter, Style

CODE = (
    "def running_mean(values, width):",
    "    total = 0.0",
    "    means = []",
    "    for i, value in enumerate(values):",
    "        total += value",
    "        if i >= width:",
    "            total -= values[i - width]",
    "        means.append(total / min(i + 1, width))",
    "    return means",
)
_BULLETS = ("•", "–", "▪")


def lists(seed: int = 11) -> GeneratedPage:
    """A bulleted list of three depths, and a numbered one, with prose around them."""
    rng = Random(seed)
    page = PageWriter("lists")
    frame = page.frame()
    page.text(english_paragraph(rng, 40), frame, PLAIN)
    _list(page, frame, rng, (0, 1, 1, 2, 0, 1, 0), numbered=False)
    page.text(english_paragraph(rng, 40), frame, PLAIN)
    _list(page, frame, rng, (0, 0, 0, 0), numbered=True)
    page.text(english_paragraph(rng, 40), frame, PLAIN)
    return page.finish()


def code(seed: int = 12) -> GeneratedPage:
    """A listing of nine lines in a fixed-width face between two paragraphs."""
    rng = Random(seed)
    page = PageWriter("code")
    frame = page.frame()
    page.text(english_paragraph(rng, 50), frame, PLAIN, gap=12)
    style = Style(face=Face.MONO, size=9, leading=11.5)
    printed = []
    for row in CODE:
        stripped = row.lstrip()
        left = frame.left + 12 + (len(row) - len(stripped)) * style.size * 0.6
        printed.append(page.line(stripped, left, page.y, style))
        page.y += style.leading
    page.blocks.append(_block(BlockKind.CODE, "\n".join(CODE), printed))
    page.y += 12
    page.text(english_paragraph(rng, 50), frame, PLAIN)
    return page.finish()


def figure(seed: int = 13) -> GeneratedPage:
    """A bar chart with a caption below it, prose above and below."""
    rng = Random(seed)
    page = PageWriter("figure")
    frame = page.frame()
    page.text(english_title(rng, 4), frame, HEADING[1], BlockKind.HEADING, level=1)
    page.text(english_paragraph(rng, 70), frame, BODY, gap=14)
    page.blocks.append(_chart(page, frame, rng))
    small = Style(size=9, leading=11.5)
    caption = f"Figure 1: {english_paragraph(rng, 14)}"
    page.text(caption, frame, small, BlockKind.CAPTION, gap=14)
    page.text(english_paragraph(rng, 70), frame, BODY)
    return page.finish()


def form(seed: int = 14) -> GeneratedPage:
    """Labels with written answers on ruled lines, and four check boxes, two of them crossed.

    The form's text has one row a line; check boxes stand as ``[x]`` and ``[ ]`` before their label.
    """
    rng = Random(seed)
    page = PageWriter("form")
    frame = page.frame()
    page.text("Application for Access", frame, HEADING[1], BlockKind.HEADING, level=1, gap=14)
    printed: list[TruthLine] = []
    rows: list[str] = []
    for label in ("Name", "Address", "Telephone", "Purpose"):
        answer = english_phrase(rng).title()
        printed.append(page.line(f"{label}:", frame.left, page.y, PLAIN))
        printed.append(page.line(answer, frame.left + 90, page.y, PLAIN))
        base = page.height - page.y - 12
        page.canvas.line(frame.left + 86, base, frame.left + 330, base)
        rows.append(f"{label}: {answer}")
        page.y += 26
    for number, label in enumerate(("By post", "By telephone", "In person", "No reply needed")):
        crossed = number % 2 == 0
        _check_box(page, frame.left, page.y, crossed=crossed)
        printed.append(page.line(label, frame.left + 18, page.y, PLAIN))
        rows.append(f"[{'x' if crossed else ' '}] {label}")
        page.y += 20
    page.blocks.append(_block(BlockKind.FORM, "\n".join(rows), printed))
    return page.finish()


def _list(
    page: PageWriter, frame: Frame, rng: Random, depths: tuple[int, ...], *, numbered: bool
) -> None:
    printed: list[TruthLine] = []
    items = []
    for number, depth in enumerate(depths, start=1):
        text = english_paragraph(rng, 6 if depth else 12)
        mark = f"{number}." if numbered else _BULLETS[depth]
        left = frame.left + 14 + 18 * depth
        page.line(mark, left, page.y, PLAIN)
        inner = Frame(left + 16, page.y, frame.left + frame.width - left - 16, frame.bottom)
        printed += page.set_lines(text, inner, PLAIN)
        page.y += 2
        items.append(text)
    block = _block(BlockKind.LIST, "\n".join(items), printed, depths)
    page.blocks.append(block)
    page.y += 8


def _chart(page: PageWriter, frame: Frame, rng: Random) -> TruthBlock:
    top, left, height, width = page.y, frame.left + 60, 170.0, frame.width - 120
    base = page.height - top - height
    page.canvas.setLineWidth(1)
    page.canvas.line(left, base, left + width, base)
    page.canvas.line(left, base, left, base + height)
    shades = (0.25, 0.5, 0.75)
    count = 9
    for bar in range(count):
        page.canvas.setFillGray(shades[bar % len(shades)])
        x = left + 12 + bar * (width - 20) / count
        page.canvas.rect(
            x, base, (width - 20) / count * 0.7, rng.uniform(0.2, 0.95) * height, fill=1
        )
    page.canvas.setFillGray(0)
    page.y = top + height + 12
    return TruthBlock(BlockKind.FIGURE, "", page.box(left, top, left + width, top + height))


def _check_box(page: PageWriter, left: float, top: float, *, crossed: bool) -> None:
    bottom = page.height - top - 10
    page.canvas.rect(left, bottom, 9, 9)
    if crossed:
        page.canvas.line(left + 1.5, bottom + 1.5, left + 7.5, bottom + 7.5)
        page.canvas.line(left + 1.5, bottom + 7.5, left + 7.5, bottom + 1.5)


def _block(
    kind: BlockKind, text: str, printed: list[TruthLine], depths: tuple[int, ...] = ()
) -> TruthBlock:
    box = BBox.union(line.bbox for line in printed)
    return TruthBlock(kind, text, box, tuple(printed), depths=depths)
