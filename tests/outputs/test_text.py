from __future__ import annotations

import pytest

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Metadata,
    Page,
    PageStatus,
    RenderOptions,
)


def document(html: str, kind: BlockKind = BlockKind.TEXT) -> Document:
    page = Page(1, None, PageStatus.OK, blocks=(Block("p1-b1", kind, BBox(0, 0, 1, 1), html),))
    return Document("x.pdf", "", (page, page), Metadata(2, "application/pdf"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a *b*<br>c <b>d</b> <math>$x^2$</math></p>", "a *b*\nc d x^2"),
        (
            "<table><tr><td rowspan=2>a</td><td colspan=2>b</td></tr>"
            "<tr><td>c</td><td>d<br>e</td></tr></table>",
            "a\tb\t\n\tc\td e",
        ),
        ("<ul><li>a<ol start=9><li>b</li></ol></li><li>c</li></ul>", "- a\n  9. b\n- c"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ('<img alt="a curve">', "[Figure: a curve]"),
    ],
)
def test_plain_text(html: str, expected: str) -> None:
    assert document(html).to_text() == f"{expected}\n\n{expected}\n"


def test_pages_begin_with_a_form_feed_on_demand() -> None:
    assert document("<p>a</p>").to_text(RenderOptions(page_anchors=True)) == "\fa\n\n\fa\n"
