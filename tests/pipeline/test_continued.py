"""Paragraphs and tables over a page break: what is joined, and what must not be."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import LongTable, Paragraph, SimpleDocTemplate, Spacer

from moonpress import convert
from moonpress.document import BBox, Block, BlockKind, Document, Page, PageSize, PageStatus
from moonpress.pipeline.continued import mark_continued

K = BlockKind
SIZE = PageSize(595, 842, 1654, 2339)
LOW, HIGH, FOOT = BBox(0.1, 0.5, 0.9, 0.85), BBox(0.1, 0.1, 0.9, 0.3), BBox(0.1, 0.95, 0.9, 0.97)
HEAD = "A long paragraph that comes to the end of its page and breaks off"


def block(html: str, kind: BlockKind = K.TEXT, box: BBox = LOW, **rest: object) -> Block:
    made = Block("", kind, box, html if html.startswith("<") else f"<p>{html}</p>")
    return replace(made, **rest)  # type: ignore[arg-type]


def page(number: int, *blocks: Block, **rest: object) -> Page:
    named = tuple(replace(b, id=b.id or f"p{number}-b{k}") for k, b in enumerate(blocks, start=1))
    return replace(Page(number, SIZE, PageStatus.OK, blocks=named), **rest)  # type: ignore[arg-type]


def joints(*pages: Page) -> dict[str, str]:
    marked = mark_continued(pages)
    return {b.id: b.continues for p in marked for b in p.blocks if b.continues is not None}


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (HEAD, "in the middle of a sentence."),
        (HEAD, "here."),
        (
            "<p>One.</p><p>A paragraph with a broken word at the end of its inter-</p>",
            "esting page",
        ),
        ("The fitting was done by the method of Levenberg-", "Marquardt with damping."),
        (
            "A sentence of some length that has its clause at the end,",
            "which is what follows here.",
        ),
        ("<p>Here is some text with a formula <math>x.</math></p>", "and it is positive here."),
        ("The values of this and of that table are shown in the", "Appendix at the end."),
        ("We counted all of the houses that were built in", "1987 and later."),
        ("Most of what is known was found by the group of", "<p><math>x</math> and friends.</p>"),
        ("As Miller has shown at length (see also Smith 2020)", "there are none of these."),
        ("Er sprach von den Häusern am Rande der Stadt und", "Dörfern in der Umgebung."),
        (
            "这一段文字在页面的末尾没有结束而是在下一页上继续",
            "写下去直到这一句话结束为止再开始新的一段。",
        ),
    ],
)
def test_a_sentence_goes_on(head: str, tail: str) -> None:
    assert joints(page(1, block(head)), page(2, block(tail, box=HIGH))) == {"p2-b1": "p1-b1"}


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (HEAD + ".", "in lower case all the same, which is odd."),
        (HEAD + '."', "in lower case all the same, which is odd."),
        (HEAD + ".<sup>12</sup>", "in lower case all the same, which is odd."),
        ("The parts of this are the following ones:", "first of all the beginning."),
        (HEAD, "A new sentence begins."),
        (HEAD, "a) an item of a list that is here"),
        (HEAD, "ii. an item of a list that is here"),
        (HEAD, "jane.doe@example.org and others here"),
        (HEAD, "time (s)"),
        ("Figure text", "of some sort that is read as text."),
        ("Copyright of this article: https://doi.org/10.1145/12", "we show that this holds."),
        ("Copyright of this article is 978-1-4503-0000/20 and $15.00", "we show that this holds."),
        ("The chapter on the houses of the old town", "1987 was a good year."),
        ("中文标题很短", "这一段文字在页面的开头并且是新的一段因为上面的只是标题。"),
        ("<ul><li>An item that comes to the end of the page and</li></ul>", "goes on over there."),
    ],
)
def test_doubt_decides_against(head: str, tail: str) -> None:
    assert joints(page(1, block(head)), page(2, block(tail, box=HIGH))) == {}


def test_what_stands_between_is_passed_over() -> None:
    first = page(
        1,
        block("The Journal", K.PAGE_HEADER),
        block(HEAD),
        block('<img alt="">', K.FIGURE),
        block("Figure 1: a curve", K.CAPTION),
        block("1 A note.", K.FOOTNOTE),
        block("17", box=FOOT),
    )
    second = page(
        2,
        block("<table><tr><td>1</td></tr></table>", K.TABLE),
        block("Table 1: numbers", K.CAPTION),
        block("in the middle of a sentence.", box=HIGH),
    )
    assert joints(first, second) == {"p2-b3": "p1-b2"}
    full_page_figure = page(2, block('<img alt="">', K.FIGURE))
    third = page(3, block("in the middle of a sentence.", box=HIGH))
    assert joints(first, full_page_figure, third) == {"p3-b1": "p1-b2"}


@pytest.mark.parametrize("kind", [K.HEADING, K.FORMULA, K.CODE, K.LIST])
def test_what_belongs_to_the_text_ends_it(kind: BlockKind) -> None:
    tail = block("in the middle of a sentence.", box=HIGH)
    between = block("A heading", kind)
    assert joints(page(1, block(HEAD), between), page(2, tail)) == {}
    assert joints(page(1, block(HEAD)), page(2, between, tail)) == {}


def test_pages_that_are_missing_or_were_not_read_part() -> None:
    tail = block("in the middle of a sentence.", box=HIGH)
    assert joints(page(1, block(HEAD)), page(3, tail)) == {}
    for status in (PageStatus.FAILED, PageStatus.BLANK):
        gap = page(2, status=status)
        assert joints(page(1, block(HEAD)), gap, page(3, tail)) == {}
    assert joints(page(1, block(HEAD), status=PageStatus.PARTIAL), page(2, tail)) == {}


def test_letters_of_another_size_are_another_text() -> None:
    tail = block("in the middle of a sentence.", box=HIGH, font_size=10.0)
    assert joints(page(1, block(HEAD, font_size=8.0)), page(2, tail)) == {}
    assert joints(page(1, block(HEAD, font_size=10.0)), page(2, tail)) == {"p2-b1": "p1-b1"}


def test_a_paragraph_over_three_pages_is_a_chain() -> None:
    middle = block("in the middle of a sentence that is as long as a page and goes", box=HIGH)
    pages = page(1, block(HEAD)), page(2, middle), page(3, block("on and on.", box=HIGH))
    assert joints(*pages) == {"p2-b1": "p1-b1", "p3-b1": "p2-b1"}


def table(*rows: str, box: BBox = HIGH, **rest: object) -> Block:
    """Rows as ``a|b``; those that begin with a star are headers."""
    html = "".join(
        "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row.lstrip("*").split("|")) + "</tr>"
        for row in rows
        for tag in ["th" if row.startswith("*") else "td"]
    )
    return block(f"<table>{html}</table>", K.TABLE, box, **rest)


FIRST = table("*Name|Sum", "a|1", "b|2", box=LOW)


@pytest.mark.parametrize("rest", [("*Name|Sum", "c|3"), ("c|3", "d|4")])
def test_a_table_goes_on(rest: tuple[str, ...]) -> None:
    notes = block("1 A note.", K.FOOTNOTE), block("17", box=FOOT)
    first = page(1, block("Before."), FIRST, *notes)
    assert joints(first, page(2, table(*rest), block("After."))) == {"p2-b1": "p1-b2"}


@pytest.mark.parametrize(
    "rest",
    [
        table("*Name|Sum|Share", "c|3|4"),
        table("*Town|People", "c|3"),
        table("c|3", box=BBox(0.1, 0.1, 0.8, 0.3)),
        table("c|3", box=BBox(0.1, 0.5, 0.9, 0.7)),
    ],
    ids=["columns", "header", "narrower", "low"],
)
def test_another_table_begins(rest: Block) -> None:
    assert joints(page(1, FIRST), page(2, rest)) == {}


def test_tables_that_do_not_meet_at_the_page_break_are_two() -> None:
    rest = table("c|3")
    assert joints(page(1, replace(FIRST, bbox=BBox(0.1, 0.1, 0.9, 0.4))), page(2, rest)) == {}
    assert joints(page(1, FIRST, block("Text.")), page(2, rest)) == {}
    assert joints(page(1, FIRST), page(2, block("Text."), rest)) == {}
    assert joints(page(1, FIRST), page(3, rest)) == {}
    wide = PageSize(842, 595, 2339, 1654)
    assert joints(page(1, FIRST), page(2, rest, size=wide)) == {}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Table 2: Sums", {}),
        ("Other sums", {}),
        ("Table 1: Sums", {"p2-b2": "p1-b2"}),
        ("Table 1 (continued)", {"p2-b2": "p1-b2"}),
        ("(cont.)", {"p2-b2": "p1-b2"}),
    ],
)
def test_titles_tell(title: str, expected: dict[str, str]) -> None:
    first = page(1, block("Table 1: Sums", K.CAPTION, caption_for="p1-b2"), FIRST)
    assert joints(first, page(2, block(title, K.CAPTION), table("c|3"))) == expected


def test_a_table_over_three_pages_keeps_the_header_in_mind() -> None:
    middle = table("c|3", "d|4", box=BBox(0.1, 0.1, 0.9, 0.9))
    last = table("*Name|Sum", "e|5")
    expected = {"p2-b1": "p1-b1", "p3-b1": "p2-b1"}
    assert joints(page(1, FIRST), page(2, middle), page(3, last)) == expected


@pytest.mark.parametrize(("rotation", "expected"), [(90, True), (270, False), (0, False)])
def test_tables_on_turned_pages_are_compared_upright(rotation: int, expected: bool) -> None:
    right, left = BBox(0.5, 0.1, 0.85, 0.9), BBox(0.1, 0.1, 0.3, 0.9)
    first = page(1, replace(FIRST, bbox=right), rotation=rotation)
    second = page(2, table("c|3", box=left), rotation=rotation)
    assert bool(joints(first, second)) is expected
    mirrored = page(1, replace(FIRST, bbox=left), rotation=rotation)
    other = page(2, table("c|3", box=right), rotation=rotation)
    assert bool(joints(mirrored, other)) is (rotation == 270)


def made_pdf() -> bytes:
    """A report whose text breaks over pages 1 and 2 and whose table over pages 2 to 4."""
    style = getSampleStyleSheet()["BodyText"]
    text = "The walk along the shore takes a whole day and is worth every hour of it. " * 4
    rows = [
        ["Town", "People", "Area"],
        *([f"Town {k}", str(k * 17), str(k * 3)] for k in range(90)),
    ]
    ruled = [("GRID", (0, 0), (-1, -1), 0.5, "black"), ("FONT", (0, 0), (-1, 0), "Helvetica-Bold")]
    columns = LongTable(rows, colWidths=[200, 120, 120], repeatRows=1, style=ruled)
    story = [Spacer(1, 18), *(Paragraph(text, style) for _ in range(17)), Spacer(1, 24), columns]
    stream = io.BytesIO()
    SimpleDocTemplate(stream, pagesize=A4, invariant=True).build(story)
    return stream.getvalue()


def joined(document: Document) -> list[tuple[str, str]]:
    blocks = {b.id: b for p in document.pages for b in p.blocks}
    return [(b.continues, b.id) for b in blocks.values() if b.continues is not None]


@pytest.mark.slow
def test_a_report_is_read_and_joined() -> None:
    document = convert(made_pdf(), engine="embedded")
    kinds = {b.id: b.kind for p in document.pages for b in p.blocks}
    pairs = joined(document)
    assert [kinds[first] for first, _ in pairs] == [K.TEXT, K.TABLE, K.TABLE]
    assert [kinds[second] for _, second in pairs] == [K.TEXT, K.TABLE, K.TABLE]
    markdown = document.to_markdown()
    assert markdown.count("| Town | People | Area |") == 1
    assert [f"| Town {k} | {k * 17} | {k * 3} |" in markdown for k in range(90)] == [True] * 90
    words = " ".join(document.to_text().split())
    assert words.count("The walk along the shore takes a whole day and is worth every hour") == 68


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sample_pdflatex_4pages", ["p1 p2", "p2 p3", "p3 p4"]),
        ("icdar13_eu-001", ["p2 p3"]),
        ("docling_multi_page", []),
        ("ocrmypdf_cardinal", []),
    ],
)
def test_real_documents_are_joined_where_they_go_on(
    name: str, expected: list[str], shared: Path
) -> None:
    document = convert(shared / "data" / "corpus" / f"{name}.pdf", engine="embedded")
    pages = [(a.split("-")[0], b.split("-")[0]) for a, b in joined(document)]
    # Paragraphs also go on in the next column of their page.
    assert [f"{a} {b}" for a, b in pages if a != b] == expected
