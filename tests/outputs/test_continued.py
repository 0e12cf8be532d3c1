"""The joint between two parts of a paragraph or a table."""

from __future__ import annotations

import pytest

from moonpress.document import BBox, Block, BlockKind, Document, Metadata, Page, PageStatus

BOX = BBox(0.1, 0.1, 0.9, 0.2)


def document(*parts: str, kind: BlockKind = BlockKind.TEXT, loop: bool = False) -> Document:
    """Each part on a page of its own, going on from the one before."""
    pages = tuple(
        Page(
            number,
            None,
            PageStatus.OK,
            blocks=(
                Block(
                    f"p{number}-b1",
                    kind,
                    BOX,
                    html,
                    continues=f"p{number + loop}-b1" if loop else f"p{number - 1}-b1",
                ),
            ),
        )
        for number, html in enumerate(parts, start=1)
    )
    return Document("x.pdf", "", pages, Metadata(len(pages), "application/pdf"))


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("<p>breaks off</p>", "<p>here.</p>", "breaks off here."),
        ("<p>inter- </p>", "<p> esting</p>", "interesting"),
        ("<p>inter\u00ad</p>", "<p>esting</p>", "interesting"),
        ("<p>Levenberg-</p>", "<p>Marquardt</p>", "Levenberg-Marquardt"),
        ("<p>a state-of-</p>", "<p>the-art thing</p>", "a state-of-the-art thing"),
        ("<p>so <b>bold</b></p>", "<p><b>and</b> plain</p>", "so **bold** **and** plain"),
        ("<p>in <i>com-</i></p>", "<p>mon use</p>", "in *com*mon use"),
        ("<p>where <math>x</math></p>", "<p>is it</p>", "where $x$ is it"),
        ("<p>这一段文字</p>", "<p>写下去。</p>", "这一段文字写下去。"),
        ("<p>One.</p><p>Two is</p>", "<p>here.</p><p>Three.</p>", "One.\n\nTwo is here.\n\nThree."),
        ("loose text is", "and goes on", "loose text is\n\nand goes on"),
        ("<p>a</p>", "<p>b</p>loose", "a b\n\nloose"),
        ("<p>a</p>loose", "<p>b</p>", "a\n\nloose\n\nb"),
    ],
)
def test_paragraphs(first: str, second: str, whole: str) -> None:
    assert document(first, second).to_markdown() == f"{whole}\n"


def test_three_parts_are_one() -> None:
    assert document("<p>a</p>", "<p>b</p>", "<p>c</p>").to_markdown() == "a b c\n"


@pytest.mark.parametrize(
    "second",
    [
        "<tr><th>A</th><th>B</th></tr><tr><td>3</td><td>4</td></tr>",
        "<tbody><tr><td>3</td><td>4</td></tr></tbody>",
    ],
)
def test_tables(second: str) -> None:
    first = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    markdown = document(first, f"<table>{second}</table>", kind=BlockKind.TABLE).to_markdown()
    assert markdown == "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"


def test_a_block_that_continues_what_is_not_there_stands_by_itself() -> None:
    assert document("<p>a</p>").to_markdown() == "a\n"
    assert document("<p>a</p>", "<p>b</p>", loop=True).to_markdown() == "a\n\nb\n"
