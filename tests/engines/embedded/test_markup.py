"""Lines joined into text."""

from __future__ import annotations

import pytest

from moonpress.engines.embedded.markup import element, join_lines


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["a recog-", "niser"], "a recogniser"),
        (["an up-to-", "date word"], "an up-to-date word"),
        (["the Franco-", "Prussian war"], "the Franco-Prussian war"),
        (["a 6-", "gigabyte card"], "a 6-gigabyte card"),
        (["pages 406\u2013", "415"], "pages 406\u2013415"),
        (["soft\u00ad", "ware"], "software"),
        (["one", "two"], "one two"),
        (["\u4e2d\u6587", "\u6587\u672c"], "\u4e2d\u6587\u6587\u672c"),
        (["\u4e2d\u6587", "word"], "\u4e2d\u6587 word"),
        (["this -", "that"], "this - that"),
        (["", "  x "], "x"),
    ],
)
def test_joining(lines: list[str], text: str) -> None:
    assert join_lines(lines) == text


def test_text_is_escaped() -> None:
    assert element("p", "a < b & c") == "<p>a &lt; b &amp; c</p>"
