"""The tolerant layout parser: nothing visible is dropped, whatever the model writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document import BBox, BlockKind
from moonpress.document.html import visible_text
from moonpress.parsing import LayoutParser, parse_layout


def parse(text: str, scale: float = 1000) -> LayoutParser:
    return parse_layout(text, page_number=3, scale=scale)


def codes(parser: LayoutParser) -> list[str]:
    return [problem.code for problem in parser.problems]


def div(inner: str, box: str = "100 200 300 400", label: str = "Text") -> str:
    return f'<div data-bbox="{box}" data-label="{label}">{inner}</div>'


def test_a_clean_reply_gives_blocks_in_order_and_no_problem() -> None:
    parser = parse(
        div("<h1>Title</h1>", label="Section-Header") + "\n" + div("<p>Some <b>text</b>.</p>")
    )
    assert [block.kind for block in parser.blocks] == [BlockKind.HEADING, BlockKind.TEXT]
    assert [block.id for block in parser.blocks] == ["p3-b1", "p3-b2"]
    assert parser.blocks[0].level == 1
    assert parser.blocks[1].bbox == BBox(0.1, 0.2, 0.3, 0.4)
    assert parser.blocks[1].html == "<p>Some <b>text</b>.</p>"
    assert codes(parser) == []


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Caption", "caption"),
        ("Footnote", "footnote"),
        ("Equation-Block", "formula"),
        ("List-Group", "list"),
        ("Page-Header", "page_header"),
        ("Page-Footer", "page_footer"),
        ("Image", "figure"),
        ("Section-Header", "heading"),
        ("Table", "table"),
        ("Text", "text"),
        ("Complex-Block", "complex"),
        ("Code-Block", "code"),
        ("Form", "form"),
        ("Table-Of-Contents", "contents"),
        ("Figure", "figure"),
        ("Chemical-Block", "chemistry"),
        ("Diagram", "diagram"),
        ("Bibliography", "bibliography"),
        ("Blank-Page", "blank"),
    ],
)
def test_every_label_of_the_model_has_its_kind(label: str, kind: str) -> None:
    parser = parse(div("words", label=label))
    assert [block.kind for block in parser.blocks] == [kind]
    assert codes(parser) == []


@pytest.mark.parametrize("box", ["100,200,300,400", "[100, 200, 300, 400]", "100.0 200 300 400"])
def test_boxes_written_in_other_ways_are_read(box: str) -> None:
    parser = parse(div("words", box=box))
    assert parser.blocks[0].bbox == BBox(0.1, 0.2, 0.3, 0.4)
    assert codes(parser) == []


def test_version_one_counts_to_1024() -> None:
    assert parse(div("words", box="0 0 512 1024"), scale=1024).blocks[0].bbox == BBox(0, 0, 0.5, 1)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ("300 400 100 200", BBox(0.1, 0.2, 0.3, 0.4)),
        ("-50 200 300 1400", BBox(0.0, 0.2, 0.3, 1.0)),
        ("100 200 300", BBox(0, 0, 1, 1)),
        ("none", BBox(0, 0, 1, 1)),
    ],
)
def test_malformed_boxes_are_mended_and_reported(box: str, expected: BBox) -> None:
    parser = parse(div("words", box=box))
    assert parser.blocks[0].bbox == expected
    assert codes(parser) == ["box-malformed"]
    assert parser.problems[0].block_id == "p3-b1"


def test_missing_box_and_unknown_label_are_reported() -> None:
    assert codes(parse('<div data-label="Text">a</div>')) == ["box-missing"]
    assert codes(parse('<div data-bbox="1 2 3 4" data-label="Poem">a</div>')) == ["label-unknown"]
    assert codes(parse("<div>a</div>")) == ["box-missing", "label-unknown"]


def test_nested_plain_divs_stay_inside_their_block() -> None:
    parser = parse(div("<div>one</div><div><div>two</div></div>", label="Form"))
    assert len(parser.blocks) == 1
    assert visible_text(parser.blocks[0].html) == "one two"


def test_text_outside_blocks_is_kept_in_its_place() -> None:
    parser = parse("before" + div("in") + "between" + div("in2") + "after")
    texts = [visible_text(block.html) for block in parser.blocks]
    assert texts == ["before", "in", "between", "in2", "after"]
    assert codes(parser) == ["text-outside-block"] * 3


def test_an_unclosed_block_ends_where_the_next_begins() -> None:
    parser = parse('<div data-bbox="1 2 3 4" data-label="Text"><p>one' + div("two"))
    assert [visible_text(block.html) for block in parser.blocks] == ["one", "two"]
    assert codes(parser) == ["block-unclosed"]


def test_a_wrapper_around_all_blocks_is_no_problem() -> None:
    parser = parse(f'<div class="page">{div("one")}{div("two")}</div>')
    assert [visible_text(block.html) for block in parser.blocks] == ["one", "two"]
    assert codes(parser) == []


def test_stray_closing_tag_is_reported() -> None:
    parser = parse(div("one") + "</div>")
    assert len(parser.blocks) == 1
    assert codes(parser) == ["stray-tag"]


@pytest.mark.parametrize("cut", ["<td", "</t", "<", "<td class='x"])
def test_a_reply_cut_in_a_tag_keeps_what_came_before(cut: str) -> None:
    parser = parse(f'<div data-bbox="1 2 3 4" data-label="Table"><table><tr><td>cell</td>{cut}')
    assert visible_text(parser.blocks[0].html) == "cell"
    assert codes(parser) == ["block-unclosed"]


def test_scripts_and_handlers_do_not_get_through() -> None:
    html = parse(div('<p onclick="x()">a<script>alert(1)</script></p>')).blocks[0].html
    assert html == "<p>a</p>"


def test_a_heading_without_tag_gets_one() -> None:
    block = parse(div("<p>Results</p>", label="Section-Header")).blocks[0]
    assert (block.html, block.level) == ("<h2>Results</h2>", 2)


def test_an_empty_figure_is_kept_and_an_empty_text_is_not() -> None:
    parser = parse(div("", label="Figure") + div("", label="Text"))
    assert [block.kind for block in parser.blocks] == [BlockKind.FIGURE]


def test_blocks_come_out_as_soon_as_they_close() -> None:
    parser = LayoutParser(page_number=1, scale=1000)
    assert parser.feed('<div data-bbox="1 2 3 4" data-label="Text">one</di') == []
    assert [visible_text(block.html) for block in parser.feed("v><div")] == ["one"]
    assert parser.feed(">two") == []
    assert [visible_text(block.html) for block in parser.close()] == ["two"]


def test_spans_say_where_in_the_reply_each_block_stands() -> None:
    reply = "before" + div("<p>one</p>") + "\n" + div("two") + "after"
    parser = parse(reply)
    assert [reply[start:end] for start, end in parser.spans] == [
        "before",
        "<p>one</p>",
        "two",
        "after",
    ]


_WORDS = st.integers(min_value=0, max_value=999).map(lambda n: f"w{n}w")
_PIECES = st.one_of(
    _WORDS,
    st.sampled_from(
        [
            '<div data-bbox="1 2 3 4" data-label="Text">',
            '<div data-bbox="9,9,1" data-label="Table">',
            "<div data-label='Figure'>",
            "<div>",
            "</div>",
            "<p>",
            "</p>",
            "<table><tr><td>",
            "</td></tr></table>",
            "<b>",
            "<unknown>",
            "<math>",
            "</math>",
            "<img alt='x'>",
            " ",
            "&amp;",
        ]
    ),
)


@given(st.lists(_PIECES, max_size=40))
@settings(max_examples=300, deadline=None)
def test_visible_words_are_never_dropped(pieces: list[str]) -> None:
    parser = parse(" ".join(pieces))
    found = " ".join(visible_text(block.html) for block in parser.blocks)
    for word in pieces:
        if word.startswith("w"):
            assert word in found


@given(st.text(alphabet=st.sampled_from("<>/div dat-box=\"'123,&;ptr\x00\ud800é"), max_size=120))
@settings(max_examples=300, deadline=None)
def test_any_text_parses_and_boxes_stay_inside_the_page(text: str) -> None:
    for block in parse(text).blocks:
        box = block.bbox
        assert 0 <= box.x0 <= box.x1 <= 1
        assert 0 <= box.y0 <= box.y1 <= 1


@given(st.lists(_PIECES, max_size=30), st.integers(min_value=1, max_value=7))
@settings(max_examples=200, deadline=None)
def test_chunks_give_the_same_blocks_as_the_whole(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    whole = parse(text)
    streamed = LayoutParser(page_number=3, scale=1000)
    blocks = [
        block
        for start in range(0, len(text), size)
        for block in streamed.feed(text[start : start + size])
    ]
    blocks += streamed.close()
    assert blocks == whole.blocks
    assert streamed.problems == whole.problems
