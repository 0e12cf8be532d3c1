"""What is let through unparsed must be exactly what the sanitiser would have made of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document import html as document_html
from moonpress.document.html import has_text, visible_text
from moonpress.document.plain_html import as_plain

TEXT = st.text(alphabet="ab 1\n\"'é\u00a0.", max_size=6)
PIECES = st.recursive(
    TEXT | st.sampled_from(["&amp;", "&lt;", "&gt;", "&nbsp;", "&eacute;", "<", ">", "&", "<br>",
        "<br/>", "<br />", '<img alt="a &amp; b"/>', '<img alt="a"/>', "<math>x &lt; y</math>",
        '<math display="block">x</math>', "<math>x<y</math>", "<script>x</script>"]),
    lambda inner: st.builds(
        lambda tag, parts, end: f"<{tag}>{''.join(parts)}</{end or tag}>",
        st.sampled_from(["p", "b", "i", "sup", "h2", "ul", "li", "table", "tbody", "thead", "tr",
            "td", "th", "code", "a", "div", 'td colspan="2"', "pre"]),
        st.lists(inner, max_size=3),
        st.sampled_from([None, None, None, "p", "b", "td"]),
    ),
    max_leaves=12,
)  # fmt: skip
CELL = st.builds(
    lambda tag, size, text: f"<{tag}{size}>{text}</{tag}>",
    st.sampled_from(["td", "th"]),
    st.sampled_from(["", ' colspan="2"', ' rowspan="2" colspan="3"']),
    st.sampled_from(["", "a", "<b>a</b> b", "<b><i>a</i></b>", "a<br/>b", "<b><b>a</b></b>"]),
)
ROWS = st.lists(st.lists(CELL, max_size=3).map(lambda c: f"<tr>{''.join(c)}</tr>"), max_size=3)
TABLES = st.builds(
    lambda head, body, gap: f"<table>{head}{gap}<tbody>{gap.join(body)}</tbody>{gap}</table>",
    st.one_of(st.just(""), ROWS.map(lambda rows: f"<thead>{''.join(rows)}</thead>")),
    ROWS,
    st.sampled_from(["", "\n", " "]),
)

ITEMS = st.recursive(
    st.sampled_from(["", "a", "<b>a</b> b", "a<br/>", "<math>x</math>"]),
    lambda inner: st.builds(
        lambda start, items, gap, end: (
            f"{start}{gap}{gap.join(f'<li>{item}</li>' for item in items)}</{end or start[1:3]}>"
        ),
        st.sampled_from(["<ul>", "<ol>", '<ol start="4">', '<ol type="a" start="4">',
            '<ul start="4">', '<ol start="4" start="5">']),
        st.lists(st.builds(lambda text, more: f"a{text}{more}", st.sampled_from(["", " ", "b"]),
            inner), max_size=3),
        st.sampled_from(["", "\n"]),
        st.sampled_from([None, None, None, "ul", "ol"]),
    ),
    max_leaves=8,
)  # fmt: skip


def sanitised(html: str) -> str:
    """By the sanitiser itself."""
    text = document_html._MATH.sub(document_html._protect, html)
    return document_html._cleaner().clean(text)


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=3).map("".join))
def test_plain_html_is_what_the_sanitiser_makes(html: str) -> None:
    plain = as_plain(html)
    assert plain is None or plain == sanitised(html)


@pytest.mark.parametrize("html", ["<p></p><ul></ul>", "<p>a<b>c</b></p><ul><li>x</li></ul>"])
def test_what_the_matcher_of_python_trips_over_is_sanitised(html: str) -> None:
    """Some versions raise SystemError for these."""
    assert document_html.sanitise(html) == html


@settings(max_examples=300, deadline=None)
@given(TABLES)
def test_plain_tables_are_what_the_sanitiser_makes(html: str) -> None:
    assert as_plain(html) == sanitised(html)


@settings(max_examples=600, deadline=None)
@given(st.lists(ITEMS, max_size=3).map("".join))
def test_plain_lists_are_what_the_sanitiser_makes(html: str) -> None:
    plain = as_plain(html)
    assert plain is None or plain == sanitised(html)


@pytest.mark.parametrize(
    "html",
    [
        "<p>This is <b>bold <i>and</i> more</b> &amp; so on<br/>next</p>",
        "<h2>3 Results</h2>",
        "<ul><li>one</li>\n<li><math>x</math></li></ul>",
        '<ol start="4" type="a"><li>four</li></ol><ul><li>a</li></ul><ol><li>b</li></ol>',
        "<ul><li>Stone<ul><li>granite</li><li>slate</li></ul></li>\n<li>Wood</li></ul>",
        '<p><img alt="a house"/></p>',
        "<p>one</p>\n<p>two</p>",
        "",
    ],
)
def test_common_html_takes_the_short_way(html: str) -> None:
    assert as_plain(html) == sanitised(html)


@pytest.mark.parametrize(
    "html",
    ["a < b", "<p>a", "<p>a</b></p>", "<p onclick=x>a</p>", "<b><p>a</p></b>", "<td>a</td>",
     "<table><tr><td>a</td></tr></table>", "<p>a & b</p>",
     '<table><tbody><tr><td colspan="2" colspan="3">a</td></tr></tbody></table>',
     "<p>a\u00a0b</p>", "<p>a\rb</p>"],
)  # fmt: skip
def test_everything_else_goes_the_long_way(html: str) -> None:
    assert as_plain(html) is None


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=3).map("".join))
def test_whether_there_is_text_agrees_with_the_text(html: str) -> None:
    clean = document_html.sanitise(html)
    assert has_text(clean) == bool(visible_text(clean))
