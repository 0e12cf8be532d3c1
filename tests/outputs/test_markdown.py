from __future__ import annotations

import re
from html import escape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Delimiters,
    Document,
    Link,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    RenderOptions,
)
from moonpress.document.html import visible_text
from tests.outputs.commonmark import seen, squeezed, to_html

BOX = BBox(0, 0, 1, 1)


def document(
    html: str,
    kind: BlockKind = BlockKind.TEXT,
    *,
    level: int | None = None,
    caption: str | None = None,
) -> Document:
    blocks = [Block("p1-b1", kind, BOX, html, level=level)]
    if caption is not None:
        blocks.append(Block("p1-b2", BlockKind.CAPTION, BOX, caption, caption_for="p1-b1"))
    page = Page(1, PageSize(612, 792, 612, 792), PageStatus.OK, blocks=tuple(blocks))
    return Document("x.pdf", "", (page,), Metadata(1, "application/pdf"))


def markdown(html: str, kind: BlockKind = BlockKind.TEXT) -> str:
    return document(html, kind).to_markdown().rstrip("\n")


ORDINARY = [
    "Prices rose by 5% (p<0.05) in 2020-21; see Smith & Jones [12], Fig. 3.",
    "a < b > c, 5 * 3 = 15, x_1 and snake_case, C# and F#, ~5 cm, 1 + 1 = 2 | three",
    "It costs $5.",
    "Starred* once, and a `tick.",
    "AT&T, R&D; §3, #hashtag, 3.14 and 1.5 kg, e-mail a@b.org - or not!",
    "Use C:\\dir\\file or 50\\50.",
    "See [1], [2-4] and (Miller, 2019).",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_prose_gets_no_backslashes(text: str) -> None:
    assert markdown(f"<p>{escape(text)}</p>") == text


LOOKS_LIKE_MARKDOWN = [
    "# no heading", "1. no list", "12) no list", "- no list", "+ no list", "* no list",
    "> no quote", "---", "* * *", "___", "```", "~~~", "===", "[a]: b", "[x](y)", "![x](y)",
    "<b>not bold</b>", "<https://a.b>", "<!-- no comment -->", "&amp; &#35; &copy;", "*a* **b**",
    "_a_ __b__", "~~a~~", "`a` ``b``", "\\*a\\*", "$a$ and $b$", "$5 to $10", "a\\", "\\", "#",
    "-", "1.", "+", ">", "| a |", "\\(x\\) \\[y\\]", "[ ] a", "$$", "<", "*", "a*b*c", "**", "!",
    "$\\href{javascript:x}{y}$ | a | --- |",
]  # fmt: skip


@pytest.mark.parametrize("text", LOOKS_LIKE_MARKDOWN)
@pytest.mark.parametrize(
    "frame",
    [
        "<p>{}</p>",
        "<h2>{}</h2>",
        "<ul><li>{}</li></ul>",
        "<ol><li><p>{}</p><p>{}</p></li></ol>",
        "<p>before<br>{}<br>after</p>",
        "<p>before <b>{}</b> after {}</p>",
        "<table><tr><th>{}</th><th>b</th></tr><tr><td>c</td><td>{}</td></tr></table>",
        "<table><tr><td colspan=2>{}</td></tr><tr><td>c</td><td>{}</td></tr></table>",
        "<p><a href='https://a.b'>{}</a></p>",
        "<blockquote><p>{}</p></blockquote>",
        "<p><code>{}</code> {}</p>",
    ],
)
def test_text_that_looks_like_markdown_stays_text(text: str, frame: str) -> None:
    html = frame.replace("{}", escape(text))
    # HTML in Markdown cannot be told from formulas there, where a reader takes dollars in HTML.
    assert squeezed(seen(markdown(html))) == squeezed(visible_text(html))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<b> bold </b>c</p>", "a **bold** c"),
        ("<p>in<b>side</b></p>", "in**side**"),
        ("<p><b>中文。</b>字</p>", "<b>中文。</b>字"),
        ("<p>10<math>\\times</math>10</p>", "10$\\times 10$"),
        ("<p><math>x</math> costs $5</p>", "$x$ costs \\$5"),
        ("<p>H<sub>2</sub>O<sup>+</sup></p>", "H<sub>2</sub>O<sup>+</sup>"),
        ("<p><chem>CC=O</chem></p>", "`CC=O`"),
        ("<p>a<br/>b</p>", "a  \nb"),
        ("<p><a href='javascript:alert(1)'>x</a></p>", "x"),
        ("<p><b> </b><math> </math>a</p>", "a"),
        ("<pre><code class='language-py'>a\n\n  ```</code></pre>", "````py\na\n\n  ```\n````"),
        ("<ol start=4><li>a</li><li value=7>b</li></ol>", "4. a\n\n<!-- -->\n\n7. b"),
        ("<ol type=i><li>a</li><li>b</li></ol>", "- i. a\n- ii. b"),
        ("<ul><li>a<ol start=2><li>b</li></ol></li></ul>", "- a\n\n  2. b"),
        ("<p>x <math display=block>\na\n\n+ b</math> y</p>", "x\n\n$$\na\n+ b\n$$\n\ny"),
        ("<math>\\text{if $n$}</math>", "$\\text{if \\(n\\)}$"),
        ("", ""),
        ("<p></p><ul></ul><table></table>", ""),
    ],
)
def test_markup(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_brackets_around_formulas_on_demand() -> None:
    html = "<p>$5 or $6, <math>x</math>2</p><math display='block'>y</math>"
    options = RenderOptions(delimiters=Delimiters.BRACKET)
    assert document(html).to_markdown(options) == "$5 or $6, \\(x\\)2\n\n\\[\ny\n\\]\n"


def test_formula_in_a_pipe_table_has_no_bare_bars() -> None:
    html = "<table><tr><th>a</th></tr><tr><td><math>|x| \\| \\alpha</math></td></tr></table>"
    assert markdown(html).endswith(r"| $\vert x\vert \Vert \alpha$ |")


def test_merged_cells_and_lists_in_cells_make_an_html_table() -> None:
    html = (
        "<table><tr><td rowspan=2>a<ul><li>b</li></ul></td><td>c\n\n</td></tr><tr><td>d</td></tr>"
    )
    text = markdown(html)
    assert text.startswith('<table>\n<tr><td rowspan="2">a<ul><li>b</li></ul></td><td>c</td>')
    assert "\n\n" not in text


def test_heading_takes_the_level_of_the_document() -> None:
    assert document("<h1>A</h1>", BlockKind.HEADING, level=3).to_markdown() == "### A\n"
    assert markdown("<p>A</p>", BlockKind.HEADING) == "## A"


def test_figure_links_its_crop_and_carries_its_caption() -> None:
    doc = document('<img alt="a [b]">', BlockKind.FIGURE, caption="<p>Figure 1: c</p>")
    linked = RenderOptions(figures={"p1-b1": "x files/p.png"})
    assert doc.to_markdown(linked) == "![a \\[b\\]](x%20files/p.png)\n\nFigure 1: c\n"
    assert doc.to_markdown() == "[Figure: a [b]]\n\nFigure 1: c\n"


def test_caption_is_the_alternative_of_a_figure_without_description() -> None:
    doc = document("", BlockKind.FIGURE, caption="<p>Figure 1</p>")
    assert doc.to_markdown(RenderOptions(figures={"p1-b1": "a.png"})).startswith("![Figure 1](a")


def test_figure_without_anything_is_not_silently_missing() -> None:
    assert markdown("", BlockKind.FIGURE) == "<!-- figure p1-b1 without text -->"


def test_formula_without_latex_keeps_its_raw_text_beside_the_crop() -> None:
    doc = document("<p>f(x) = 3</p>", BlockKind.FORMULA)
    assert doc.to_markdown(RenderOptions(figures={"p1-b1": "a.png"})) == "![](a.png)\n\nf(x) = 3\n"
    assert doc.to_markdown() == "f(x) = 3\n"


def test_page_headers_and_footers_on_demand() -> None:
    doc = document("<p>Journal</p>", BlockKind.PAGE_HEADER)
    assert doc.to_markdown() == ""
    assert doc.to_markdown(RenderOptions(headers_footers=True)) == "Journal\n"


def test_links_are_put_back_on_their_words() -> None:
    block = Block(
        "p1-b1",
        BlockKind.TEXT,
        BOX,
        "<p>See chapter 12, chapter 1 and <i>the page</i>.</p>",
        links=(
            Link("https://a.b/c d", BOX, "chapter  1"),
            Link("#p7", BOX, "the page"),
            Link("javascript:x", BOX, "See"),
            Link("https://no.where", BOX, ""),
        ),
    )
    page = Page(1, None, PageStatus.OK, blocks=(block,))
    doc = Document("x", "", (page,), Metadata(1, ""))
    expected = "See chapter 12, [chapter 1](https://a.b/c%20d) and "
    assert doc.to_markdown() == f"{expected}*the page*.\n"
    anchored = doc.to_markdown(RenderOptions(page_anchors=True))
    assert anchored == f'<a id="p1"></a>\n\n{expected}*[the page](#p7)*.\n'


WORDS = st.text(alphabet="ab1 中。é.,!?*_~`#<>[]()|\\$&;:-+=\"'{}/x\n", max_size=12)
LATEX = st.sampled_from(["x_1", "a^{*}b", "\\frac{a}{b}", "\\alpha", "y<z", "\\text{a b}"])


def _wrap(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from(["b", "i", "del", "sup", "span", "u", "strong"])
    wrapped = st.builds(lambda tag, x: f"<{tag}>{x}</{tag}>", tags, inner)
    linked = inner.map(lambda x: f'<a href="https://e.org/(a)">{re.sub("</?a[^>]*>", "", x)}</a>')
    return wrapped | linked | st.lists(inner, max_size=4).map("".join)


INLINE = st.recursive(
    WORDS.map(lambda t: escape(t, quote=False))
    | LATEX.map(lambda x: f"<math>{escape(x)}</math>")
    | WORDS.map(lambda t: f"<code>{escape(t)}</code>")
    | st.just("<br>")
    | st.just('<input type="checkbox" checked>'),
    _wrap,
    max_leaves=8,
)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=3)
    lists = st.builds(
        lambda tag, items: f"<{tag}>{''.join(f'<li>{i}</li>' for i in items)}</{tag}>",
        st.sampled_from(["ul", "ol", 'ol start="7"']).map(lambda t: t),
        several,
    ).map(lambda h: re.sub(r'</ol start="7">', "</ol>", h))
    return lists | several.map("".join) | inner.map(lambda x: f"<blockquote>{x}</blockquote>")


def _table(cells: list[list[str]]) -> str:
    rows = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in cells)
    return f"<table>{rows}</table>"


BLOCKS = st.recursive(
    INLINE.map(lambda x: f"<p>{x}</p>")
    | INLINE.map(lambda x: f"<h3>{x}</h3>")
    | WORDS.map(lambda x: f"<pre>{escape(x)}</pre>")
    | LATEX.map(lambda x: f'<math display="block">{escape(x)}</math>')
    | st.lists(st.lists(INLINE, min_size=2, max_size=2), max_size=3).map(_table),
    _blocks,
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(INLINE)
@example('<a href="https://e.org/">1<br><br><br></a>')
@example("<b>1<br><br>2</b>")
@example("$<code>$</code>")
@example("<code>1</code><code>1</code>")
@example('<sup><br></sup><a href="https://e.org/">x</a>')
def test_running_text_is_seen_as_it_was(html: str) -> None:
    html = f"<p>{html}</p>"
    expected = _with_boxes(html)
    assert squeezed(seen(markdown(html))) == squeezed(expected)


@settings(max_examples=150, deadline=None)
@given(BLOCKS)
def test_no_visible_word_is_lost_or_made(html: str) -> None:
    assert squeezed(seen(markdown(html))) == squeezed(_with_boxes(html))


def _with_boxes(html: str) -> str:
    return visible_text(html.replace('<input type="checkbox" checked>', "[x]"))


@settings(max_examples=60, deadline=None)
@given(INLINE)
@example("<b>a</b><i>b</i>")
@example("<b>a <i>b</i></b>")
def test_emphasis_is_seen_as_emphasis(html: str) -> None:
    """Bold text of the block is what a renderer shows bold: no mark is shown as a character."""
    rendered = to_html(markdown(f"<p>{html}</p>"))
    assert not re.search(
        r"\*\*|~~", re.sub(r"<code>.*?</code>|<math>.*?</math>", "", rendered)
    ) or ("*" in html or "~" in html)
