"""Blocks of hand-made pages: kinds, captions, boxes, HTML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moonpress.document import Block, BlockKind, TextOrigin
from moonpress.engines.embedded.structure import build_blocks
from moonpress.engines.embedded.tables import TableReading
from moonpress.engines.embedded.types import Box, Line, Region, RegionKind
from tests.engines.embedded.pages import column, line, page

FULL = "eight words of text that fill the column"
BODY = column([FULL] * 20, 100, 300)


def build(lines: list[Line], *regions: Region, number: int = 1) -> tuple[Block, ...]:
    return build_blocks(page(lines), regions, (), number)


def kinds(blocks: tuple[Block, ...]) -> list[str]:
    return [block.kind.value for block in blocks]


def test_ids_count_from_one_in_reading_order() -> None:
    blocks = build([line("A Heading of Size", 100, 200, size=40), *BODY], number=3)
    assert [block.id for block in blocks] == ["p3-b1", "p3-b2"]
    assert kinds(blocks) == ["heading", "text"]


def test_boxes_are_page_fractions_and_sizes_points() -> None:
    (block,) = build(BODY)
    assert block.bbox.x0 == pytest.approx(0.1)
    assert block.bbox.y0 == pytest.approx(300 / 1400)
    assert block.font_size == pytest.approx(10.0)
    assert block.origin is TextOrigin.OCR
    assert block.confidence == 1.0


def test_text_is_escaped_and_hyphens_undone() -> None:
    lines = column(["if a < b & c then the recog-", "niser reads on"], 100, 300)
    assert build(lines)[0].html == "<p>if a &lt; b &amp; c then the recogniser reads on</p>"


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    left = column([FULL] * 5, 100, 300)
    right = column(["and goes on here without an end", *[FULL] * 4], 600, 300)
    first, rest = build([*left, *right])
    assert rest.continues == first.id
    assert first.continues is None
    assert first.bbox.x1 < rest.bbox.x0 == pytest.approx(0.6)


def test_a_paragraph_goes_on_over_three_columns() -> None:
    words = FULL[:24]
    lines = [line for x in (50, 370, 690) for line in column([words] * 5, x, 300)]
    blocks = build(lines)
    assert [block.continues for block in blocks] == [None, blocks[0].id, blocks[1].id]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2.1 Related Work", BlockKind.HEADING),
        ("Figure 3: What was measured.", BlockKind.CAPTION),
        ("Table IV. Results", BlockKind.CAPTION),
        ("Figure 3 shows what was measured.", BlockKind.TEXT),
        ("= c(g, R)", BlockKind.TEXT),
        ("A sentence that stands alone.", BlockKind.TEXT),
    ],
)
def test_kinds_of_single_lines(text: str, kind: BlockKind) -> None:
    blocks = build([line(text, 100, 220), *BODY])
    assert blocks[0].kind is kind


def test_heading_levels_follow_the_numbers() -> None:
    blocks = build([line("2.1.3 Deep Inside", 100, 220), *BODY])
    assert blocks[0].level == 3
    assert blocks[0].html == "<h3>2.1.3 Deep Inside</h3>"


def test_a_figure_keeps_its_labels_and_gets_its_caption() -> None:
    labels = [line("speed", 300, 350), line("time", 500, 600)]
    caption = line("Fig. 2. Speed over time.", 200, 680)
    region = Region(RegionKind.FIGURE, Box(150, 320, 850, 660), 0.9)
    blocks = build([*labels, caption, *column([FULL] * 12, 100, 800)], region)
    assert kinds(blocks) == ["figure", "caption", "text"]
    assert blocks[1].caption_for == blocks[0].id
    assert "speed" in blocks[0].html
    assert "time" in blocks[0].html


def test_a_figure_gives_back_running_text() -> None:
    region = Region(RegionKind.FIGURE, Box(90, 100, 520, 820), 0.9)
    blocks = build(column([FULL] * 20, 100, 300), region)
    assert kinds(blocks) == ["figure", "text"]
    assert "fill the column" not in blocks[0].html


def test_a_table_takes_its_lines_and_its_place() -> None:
    cells = [line("one", 100, 300), line("two", 400, 300)]
    table = TableReading(
        html="<table></table>", box=Box(90, 290, 500, 330), lines=(0, 1), confidence=0.7
    )
    upright = page([*cells, *column([FULL] * 5, 100, 400)])
    blocks = build_blocks(upright, (), [table], 1)
    assert kinds(blocks) == ["table", "text"]
    assert blocks[0].html == "<table></table>"
    assert blocks[0].confidence == 0.7


def test_a_formula_takes_its_number() -> None:
    lines = [*BODY, line("E = mc2", 300, 860), line("(17)", 460, 860)]
    region = Region(RegionKind.FORMULA, Box(290, 850, 400, 890), 0.9)
    formula = build(lines, region)[-1]
    assert formula.kind is BlockKind.FORMULA
    assert formula.html == "<p>E = mc2 (17)</p>"


def test_footnotes_come_last_before_the_footer() -> None:
    note = [line("1 See the appendix of the report.", 100, 900, size=16)]
    right = column([FULL] * 24, 600, 300)
    foot = line("12", 500, 1350)
    blocks = build([*BODY, *note, *right, foot])
    assert kinds(blocks)[-2:] == ["footnote", "page_footer"]


def test_references_after_their_heading() -> None:
    heading = line("References", 100, 250, size=30)
    entries = column(["[1] A. Author, A title, 2001.", "[2] B. Writer, Another, 2003."], 100, 300)
    entries[1] = replace(entries[1], box=Box(100, 350, 390, 370))
    assert set(kinds(build([heading, *entries]))[1:]) == {"bibliography"}


def test_contents_keep_one_entry_a_line() -> None:
    lines = column(["Introduction ........ 1", "Methods ............ 14"], 100, 300)
    (block,) = build(lines)
    assert block.kind is BlockKind.CONTENTS
    assert block.html == "<ul><li>Introduction \u2026 1</li><li>Methods \u2026 14</li></ul>"


def test_code_keeps_its_indents() -> None:
    plain = [line("def f(x):", 100, 170), line("return x", 140, 196), line("f(1)", 100, 248)]
    code = [replace(item, mono=True) for item in plain]
    block = build([*code, *BODY])[0]
    assert block.html == "<pre><code>def f(x):\n    return x\n\nf(1)</code></pre>"


def test_an_empty_page_has_no_blocks() -> None:
    assert build([]) == ()


def test_every_word_of_the_page_is_in_some_block() -> None:
    lines = [line(f"word{k} stands somewhere", k * 97 % 700, k * 61 % 1300) for k in range(60)]
    regions = [
        Region(RegionKind.FIGURE, Box(0, 0, 500, 500), 0.9),
        Region(RegionKind.FORMULA, Box(300, 300, 900, 900), 0.9),
    ]
    html = " ".join(block.html for block in build(lines, *regions))
    assert all(f"word{k} " in html for k in range(60))


def test_columns_whose_boxes_meet_are_read_one_after_the_other() -> None:
    """Boxes of a scan have margins that fill a narrow gutter; both columns break at one height."""
    ends = "the end of a part."
    lines = []
    for x in (100, 501):
        lines += column([FULL] * 6 + [ends], x, 300)
        lines += column([FULL] * 7, x, 300 + 7 * 26 + 20)
    blocks = build(lines)
    # What ends the first column goes on at the top of the second one.
    assert [round(block.bbox.x0, 1) for block in blocks] == [0.1, 0.1, 0.5, 0.5]
    assert [block.continues for block in blocks] == [None, None, blocks[1].id, None]


def test_a_picture_under_columns_of_text_is_their_ground() -> None:
    picture = Region(RegionKind.FIGURE, Box(50, 50, 950, 1000), 0.9)
    text = column(["words of a narrow column"] * 14, 100, 300)
    blocks = build([*text, *column([FULL] * 9, 100, 1020)], picture)
    assert BlockKind.FIGURE not in {block.kind for block in blocks}
    chart = [
        x for k in range(4) for x in column([FULL[:24]] * 4, 100 + 200 * (k % 2), 80 + 220 * k)
    ]
    blocks = build([*chart, *column([FULL] * 9, 100, 1020)], picture)
    assert blocks[0].kind is BlockKind.FIGURE


def test_numbered_references_are_one_bibliography() -> None:
    entries = [
        "[1] A. Author and B. Author. A title of a paper.",
        "In Proc. SOME, 2019.",
        "[2] C. Author. Another title of a paper. 2020.",
    ]
    heading = line("References", 100, 240, size=28, bold=True)
    blocks = build([heading, *column(entries, 100, 300), *column([FULL] * 9, 100, 600)])
    assert blocks[1].kind is BlockKind.BIBLIOGRAPHY
    assert blocks[1].html == (
        "<ul><li>[1] A. Author and B. Author. A title of a paper. In Proc. SOME, 2019.</li>"
        "<li>[2] C. Author. Another title of a paper. 2020.</li></ul>"
    )


def test_a_lone_label_is_no_list() -> None:
    blocks = build([line("(a) one of none", 100, 200), *BODY])
    assert blocks[0].html == "<p>(a) one of none</p>"


def test_glyphs_without_meaning_are_left_out_of_the_words_of_a_formula() -> None:
    region = Region(RegionKind.FORMULA, Box(100, 300, 500, 340), 0.9)
    blocks = build(
        [line("t = min\ufffdt, 2\ufffd", 110, 310), *column([FULL] * 9, 100, 600)], region
    )
    formula = next(block for block in blocks if block.kind is BlockKind.FORMULA)
    assert formula.html == "<p>t = min t, 2</p>"
