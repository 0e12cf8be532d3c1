"""Chunks: nothing lost, nothing broken, everything placed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    Problem,
    RenderOptions,
)
from moonpress.outputs.splitting import split_markdown
from moonpress.outputs.token_estimate import estimate_tokens
from tests.outputs.sample import make_document

K = BlockKind
SENTENCE = "The walk along the shore takes a whole day. "
SMALL = RenderOptions(chunk_tokens=40, chunk_limit=60)


def document(*blocks: tuple[BlockKind, str]) -> Document:
    made = tuple(
        Block(
            f"p1-b{k}",
            kind,
            BBox(0.1, k / 100, 0.9, k / 100 + 0.01),
            html if html.startswith("<") else f"<p>{html}</p>",
            level=int(html[2]) if kind is K.HEADING else None,
        )
        for k, (kind, html) in enumerate(blocks, start=1)
    )
    page = Page(1, PageSize(612, 792, 612, 792), PageStatus.OK, blocks=made)
    return Document("x.pdf", "ab" * 32, (page,), Metadata(1, "application/pdf"))


def rows(made: Document, options: RenderOptions = SMALL) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.render("chunks", options).split("\n")[:-1]]


def test_a_row_says_what_and_where() -> None:
    made = document(
        (K.HEADING, "<h1>Paper</h1>"), (K.HEADING, "<h2>Part <i>1</i></h2>"), (K.TEXT, "Text.")
    )
    assert rows(made) == [
        {
            "id": "abababababababab-1",
            "text": "# Paper\n\n## Part *1*\n\nText.",
            "headings": ["Paper", "Part 1"],
            "pages": [1],
            "boxes": [
                {
                    "page": 1,
                    "bboxes": [
                        [0.1, 0.01, 0.9, 0.02],
                        [0.1, 0.02, 0.9, 0.03],
                        [0.1, 0.03, 0.9, 0.04],
                    ],
                }
            ],
            "kinds": ["heading", "text"],
            "blocks": ["p1-b1", "p1-b2", "p1-b3"],
            "tokens_estimate": 9,
            "problem": None,
            "source": "x.pdf",
            "sha256": "ab" * 32,
        }
    ]


def test_headings_begin_chunks_and_never_stand_alone() -> None:
    made = document(
        (K.HEADING, "<h1>Paper</h1>"),
        (K.HEADING, "<h2>One</h2>"),
        (K.TEXT, SENTENCE),
        (K.HEADING, "<h3>Deep</h3>"),
        (K.TEXT, SENTENCE * 5),
        (K.TEXT, SENTENCE),
        (K.HEADING, "<h2>Two</h2>"),
        (K.TEXT, SENTENCE),
    )
    found = rows(made)
    assert [row["headings"][1:] for row in found] == [
        ["One"],
        ["One", "Deep"],
        ["One", "Deep"],
        ["Two"],
    ]
    assert all(row["text"].split("\n")[-1].startswith("The walk") for row in found)


def test_paragraphs_fill_chunks_up_to_the_target() -> None:
    found = rows(document(*[(K.TEXT, SENTENCE)] * 12))
    assert [row["text"].count("walk") for row in found] == [4, 4, 4]
    assert all(row["tokens_estimate"] <= 40 for row in found)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = rows(document((K.TEXT, SENTENCE * 20)))
    assert all(row["tokens_estimate"] <= 60 and row["text"].endswith("day.") for row in found)
    assert sum(row["text"].count("The walk") for row in found) == 20
    assert all(row["blocks"] == ["p1-b1"] for row in found)


def test_a_long_list_is_cut_between_items() -> None:
    items = "".join(f"<li>{SENTENCE}</li>" for _ in range(20))
    found = rows(document((K.LIST, f"<ol>{items}</ol>")))
    lines = [line for row in found for line in row["text"].split("\n")]
    assert [line.split(" ")[0] for line in lines] == [f"{n}." for n in range(1, 21)]


@pytest.mark.parametrize(
    ("kind", "html"),
    [
        (K.TABLE, "<table>" + "<tr><td>A. b</td><td>c. d</td></tr>" * 60 + "</table>"),
        (K.TABLE, '<table><tr><td colspan="2">' + SENTENCE * 30 + "</td></tr></table>"),
        (K.FORMULA, '<math display="block">' + "x_1. + y; " * 60 + "</math>"),
        (K.CODE, "<pre><code>" + "x = 1. \n" * 60 + "</code></pre>"),
        (K.TEXT, "<p><math>" + "x. y " * 90 + "</math></p>"),
    ],
)
def test_what_would_break_stays_whole(kind: BlockKind, html: str) -> None:
    made = document((K.TEXT, SENTENCE), (kind, html), (K.TEXT, SENTENCE))
    found = rows(made)
    assert [row["kinds"] for row in found] == [["text"], [str(kind)], ["text"]]
    assert found[1]["tokens_estimate"] > SMALL.chunk_limit
    assert "\n\n".join(row["text"] for row in found) + "\n" == made.to_markdown()


def test_a_table_keeps_its_title() -> None:
    made = document(
        (K.TEXT, SENTENCE * 3),
        (K.CAPTION, "Table 1: A title"),
        (K.TABLE, "<table><tr><td>1</td></tr></table>"),
    )
    page = made.pages[0]
    caption = page.blocks[1]
    blocks = (
        page.blocks[0],
        Block(caption.id, caption.kind, caption.bbox, caption.html, caption_for="p1-b3"),
        page.blocks[2],
    )
    made = Document(
        made.source, made.sha256, (Page(1, page.size, page.status, blocks=blocks),), made.metadata
    )
    assert [row["blocks"] for row in rows(made, RenderOptions(chunk_tokens=33))] == [
        ["p1-b1"],
        ["p1-b2", "p1-b3"],
    ]


def test_parts_on_two_pages_give_boxes_on_both() -> None:
    found = next(row for row in rows(make_document()) if "p6-b1" in row["blocks"])
    assert found["pages"][-2:] == [5, 6]
    assert found["blocks"][-5:] == ["p6-b2", "p5-b2", "p5-b3", "p5-b4", "p6-b1"]
    assert found["boxes"][-1] == {
        "page": 6,
        "bboxes": [[0.1, 0.1, 0.9, 0.14], [0.1, 0.05, 0.9, 0.09]],
    }


def test_a_page_that_was_not_read_has_a_row_without_text() -> None:
    page = Page(3, None, PageStatus.FAILED, problems=(Problem("page-timeout", "took too long"),))
    (row,) = rows(Document("x.pdf", "", (page,), Metadata(3, "application/pdf")))
    assert (row["text"], row["pages"]) == ("", [3])
    assert row["problem"] == "page 3 could not be read: took too long"


def test_no_reader_breaks_a_line() -> None:
    text = document((K.TEXT, "one\u2028two\u2029three\x85four")).render("chunks")
    assert len(text.splitlines()) == 1
    assert json.loads(text)["text"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "A sentence. ",
                "Is it $x. y$ so? ",
                "See [a. b](https://e.org/a.b). ",
                "**Bold. Very.** ",
                "中文。",
                "\\$5. ",
                "`a. b`. ",
            ]
        ),
        min_size=1,
        max_size=60,
    )
)
def test_pieces_are_whole_and_lose_nothing(parts: list[str]) -> None:
    text = "".join(parts).strip()
    pieces = split_markdown(text, 20)
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)
    assert all(piece in text for piece in pieces)
    for piece in pieces:
        assert len(re.findall(r"(?<!\\)\$", piece)) % 2 == 0
        assert piece.count("**") % 2 == 0
        assert piece.count("[") == piece.count("](")
        assert estimate_tokens(piece) <= 30


def test_estimates() -> None:
    known = {"": 0, " \n": 0, "word": 1, "wonderfully": 2, "1234": 2, "中文": 2, "«»!?": 2}
    assert {text: estimate_tokens(text) for text in known} == known
