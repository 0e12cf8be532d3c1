from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document.html import (
    clean_text,
    inner_html,
    is_safe_link,
    parse_fragment,
    sanitise,
    visible_text,
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<script>alert(1)</script></p>", "<p>a</p>"),
        ("<p onclick=x style='color:red'>a</p>", "<p>a</p>"),
        ('<img src="http://e/x.png" onerror=x alt="q">', '<img alt="q">'),
        ('<a href="javascript:x">a</a><a href="#p3">b</a>', '<a>a</a><a href="#p3">b</a>'),
        ("<math>a<b & c &lt; d</math>", "<math>a&lt;b &amp; c &lt; d</math>"),
        ('<math display="block">x</math>', '<math display="block">x</math>'),
        ("<chem>CCO</chem>", "<chem>CCO</chem>"),
        ("<input type=checkbox checked>", '<input type="checkbox" checked="">'),
        (
            "<table><tr><td colspan=2 rowspan=3 bgcolor=red>a</td></tr></table>",
            '<table><tbody><tr><td colspan="2" rowspan="3">a</td></tr></tbody></table>',
        ),
        ('<pre class="mermaid">a--&gt;b</pre>', '<pre class="mermaid">a--&gt;b</pre>'),
        ("<pre>\n\na</pre>", "<pre>a</pre>"),
        ("<p><math>a <new>b</p>", "<p><math>a </math>b</p>"),
        ("<unknown>kept</unknown><!-- gone -->", "kept"),
        ("a\x00b\ud835c", "ab\ufffdc"),
        ("", ""),
    ],
)
def test_only_known_markup_is_let_in(html: str, expected: str) -> None:
    assert sanitise(html) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/&;=\"' \n\0abimgpretdh#x1-!\ud800", max_size=60))
def test_anything_can_be_sanitised_and_parsed(text: str) -> None:
    once = sanitise(text)
    assert sanitise(once) == once
    inner_html(parse_fragment(once)).encode()
    parse_fragment(text)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab<>&;lt\\{}^_$ '\"", max_size=30).filter(lambda t: "</" not in t))
def test_latex_comes_out_as_it_went_in(latex: str) -> None:
    escaped = latex.replace("&", "&amp;").replace("<", "&lt;")
    root = parse_fragment(sanitise(f"<p>x<math>{escaped}</math>y</p>"))
    assert [m.text_content() for m in root.iter("math")] == [latex]


def test_visible_text_has_a_space_where_a_reader_sees_one() -> None:
    html = "<p>a<b>b</b><br>c</p><ul><li>d</li></ul><table><tr><td>e</td><td>f</td></tr></table>"
    assert visible_text(html) == "ab c d e f"


@pytest.mark.parametrize("href", ["https://a.b", "HTTP://a", "mailto:a@b", "#p7", "tel:1"])
def test_usual_links_are_safe(href: str) -> None:
    assert is_safe_link(href)


@pytest.mark.parametrize("href", ["javascript:x", "", "file:///etc", "data:text/html,x", "page"])
def test_other_links_are_not(href: str) -> None:
    assert not is_safe_link(href)


def test_clean_text_keeps_tabs_breaks_and_every_script() -> None:
    assert clean_text("a\tb\nc\rd é 中 שלום 😀") == "a\tb\nc\rd é 中 שלום 😀"
