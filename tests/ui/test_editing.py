"""A block in the form that a person changes, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpress.document import BBox, Block, BlockKind
from moonpress.document.html import sanitise
from moonpress.errors import UsageError
from moonpress.ui.editing import editable, rewritten

BOX = BBox(0, 0, 1, 1)
INLINE = "<p>By <math>a^2 &lt; b</math> and <math>c</math> we get <b>it</b>.</p>"
TABLE = (
    '<table><tbody><tr><th colspan="2">A &amp; B</th></tr>'
    "<tr><td>1</td><td>2</td></tr></tbody></table>"
)


def block(html: str, kind: BlockKind = BlockKind.TEXT) -> Block:
    return Block("p1-b1", kind, BOX, sanitise(html))


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("<p>Words &amp; <i>more</i></p>", BlockKind.TEXT),
        (INLINE, BlockKind.TEXT),
        (TABLE, BlockKind.TABLE),
        ("<h2>Title</h2>", BlockKind.HEADING),
        ("<ul><li>a</li><li>b <math>x</math></li></ul>", BlockKind.LIST),
        ('<math display="block">a &lt; b</math>', BlockKind.FORMULA),
        ('<pre><code class="language-c">if (a &lt; b) x();</code></pre>', BlockKind.CODE),
    ],
)
def test_what_is_not_changed_comes_back_as_it_was(html: str, kind: BlockKind) -> None:
    one = block(html, kind)
    assert rewritten(one, editable(one).value) == one.html


def test_formulas_are_islands_that_can_be_moved_and_deleted() -> None:
    one = block(INLINE)
    shown = editable(one)
    assert shown.form == "html"
    assert shown.value.count('contenteditable="false"') == 2
    assert "<mi>" in shown.value, "typeset, so that a person knows which it is"
    island = '<span data-formula="1">anything</span>'
    assert rewritten(one, f"<p>{island} alone</p>") == "<p><math>c</math> alone</p>"


def test_an_island_that_the_block_never_had_is_dropped() -> None:
    assert rewritten(block(INLINE), '<p>x<span data-formula="7">y</span></p>') == "<p>x</p>"


def test_a_formula_is_changed_as_latex() -> None:
    one = block('<math display="block">E = mc^2</math>', BlockKind.FORMULA)
    assert editable(one) == type(editable(one))("latex", "E = mc^2")
    assert rewritten(one, "a < b & c") == '<math display="block">a &lt; b &amp; c</math>'


def test_code_is_changed_as_plain_text_and_keeps_its_language() -> None:
    one = block('<pre><code class="language-c">x();</code></pre>', BlockKind.CODE)
    assert editable(one).value == "x();"
    assert rewritten(one, "<b>&") == '<pre><code class="language-c">&lt;b&gt;&amp;</code></pre>'


@pytest.mark.parametrize(
    "hostile",
    [
        "<p><script>alert(1)</script>x</p>",
        '<p onclick="alert(1)">x</p>',
        '<img src="http://elsewhere/x.png" onerror="alert(1)">',
        '<p><a href="javascript:alert(1)">x</a></p>',
        '<p><span style="position:fixed">x</span></p>',
        "<iframe src='//e'></iframe><svg onload=alert(1)>",
    ],
)
def test_what_a_person_pastes_is_cleaned_like_an_engines_reply(hostile: str) -> None:
    html = rewritten(block("<p>x</p>"), hostile).lower()
    for word in ("script", "onclick", "onerror", "onload", "style", "src=", "iframe", "svg"):
        assert word not in html


@given(st.text(max_size=200))
def test_any_text_comes_back_clean(text: str) -> None:
    html = rewritten(block("<p>x</p>"), text)
    assert sanitise(html) == html


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(UsageError):
        rewritten(block("<p>x</p>"), "x" * 1_000_001)
