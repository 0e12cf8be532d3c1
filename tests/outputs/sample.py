"""A document made by hand that has every kind of block and what is hard to write in each."""

from __future__ import annotations

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Link,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    Problem,
    TextOrigin,
    Usage,
)

K = BlockKind
SIZE = PageSize(595.276, 841.89, 1654, 2339)

PAGE_1: tuple[tuple[BlockKind, str], ...] = (
    (K.PAGE_HEADER, "<p>Journal of Examples 12 (2026)</p>"),
    (K.HEADING, "<h1>On <i>x</i>-rays, # and <math>\\alpha_1</math></h1>"),
    (K.HEADING, "<h2>1. What costs $5 &amp; more #</h2>"),
    (
        K.TEXT,
        "<p>Water is H<sub>2</sub>O. It costs $5 to $10, 5 * 3 = 15, <b>bold</b>, <i>italic</i>,"
        " <b><i>both</i></b>, snake_case_name, <code>a`b</code>, a &lt; b,"
        " &lt;script&gt;alert(1)&lt;/script&gt;, *starred* and <math>E = mc^2</math>."
        "<sup>1</sup></p>"
        "<p>2020. It was a good year.</p><p># no heading</p><p>- no item</p><p>&gt; no quote</p>"
        "<p>a line<br>another line<br>---</p><p>~~kept~~ and R&amp;D &amp;amp; [1](no-link)</p>",
    ),
    (K.TEXT, "<p>See the project page or Müller et al. (2024) for more.</p>"),
    (
        K.LIST,
        "<ul><li>one<ul><li>inner <math>a|b</math></li><li><p>two</p><p>paragraphs</p></li></ul>"
        "</li>"
        "<li><input type=checkbox checked> done</li><li><input type=checkbox> open</li></ul>"
        '<ol start="3"><li>three</li><li>four<ol type="a"><li>letter</li></ol></li></ol>',
    ),
    (K.LIST, "<ol><li>a list of its own</li></ol>"),
    (
        K.TABLE,
        "<table><thead><tr><th>Item | unit</th><th>Price</th><th>Norm</th></tr></thead><tbody>"
        "<tr><td>Tea</td><td>$3</td><td><math>\\|x\\| + |y|</math></td></tr>"
        "<tr><td>Coffee<br>large</td><td>$4 or $5</td><td></td></tr></tbody></table>",
    ),
    (
        K.TABLE,
        '<table><tr><th rowspan="2">Method</th><th colspan="2">Error</th></tr>'
        "<tr><th>A &amp; B</th><th><math>\\sigma &lt; 1</math></th></tr>"
        "<tr><td>ours</td><td>1</td><td><ul><li>2</li></ul></td></tr></table>",
    ),
    (K.CAPTION, "<p>Table 2: Merged cells</p>"),
    (K.FORMULA, '<math display="block">\\sum_{i=1}^n x_i = \\text{where $n$ is}</math><p>(3)</p>'),
    (K.FORMULA, "<p>f(x) = ∫ g(t) dt    (4)</p>"),
    (K.FOOTNOTE, "<p><sup>1</sup> A footnote.</p>"),
    (K.PAGE_FOOTER, "<p>1</p>"),
)
PAGE_2: tuple[tuple[BlockKind, str], ...] = (
    (K.FIGURE, '<img alt="A curve [rising] to 1">'),
    (K.CAPTION, "<p>Figure 1: The <b>curve</b>.</p>"),
    (K.FIGURE, "<p>axis label</p>"),
    (K.FIGURE, ""),
    (K.DIAGRAM, '<pre class="mermaid">graph TD;\n  A--&gt;B;</pre>'),
    (K.CHEMISTRY, "<p><chem>CC(=O)Oc1ccccc1C(=O)O</chem></p>"),
    (K.CODE, '<pre><code class="language-python">def f():\n    return "```"</code></pre>'),
    (K.CODE, "<p>x = 1<br>y = 2</p>"),
    (
        K.FORM,
        '<p>Name: <input type="text" value="Ada"> Born: <input type="text"></p>'
        '<p><input type="radio" checked> yes <input type="radio"> no</p>',
    ),
    (K.CONTENTS, "<p>1 Introduction ........ 3<br>2 Methods ........ 7</p>"),
    (K.BIBLIOGRAPHY, "<p>[1] A. Author. <i>Title</i>. 2020.</p><p>[2]: B. Writer.</p>"),
    (K.TEXT, "<p><b>中文。</b>价格为 10<math>\\times</math>10 厘米。</p>"),
    (K.TEXT, '<p dir="rtl">שלום <b>עולם</b>! مرحبا</p>'),
    (K.COMPLEX, "<h3>Inner heading</h3><div>loose text<p>and a paragraph</p></div><hr>"),
    (K.TEXT, "<blockquote><p>quoted</p><ul><li>item</li></ul></blockquote>"),
    (K.BLANK, ""),
)


PAGE_5: tuple[tuple[BlockKind, str], ...] = (
    (K.TEXT, "<p>This paragraph breaks off <i>inside a compli-</i></p>"),
    (K.FOOTNOTE, "<p><sup>2</sup> A note between.</p>"),
    (K.CAPTION, "<p>Table 3: Over the page</p>"),
    (
        K.TABLE,
        "<table><tr><th>Town</th><th>People</th></tr><tr><td>Ayr</td><td>1</td></tr></table>",
    ),
)
PAGE_6: tuple[tuple[BlockKind, str], ...] = (
    (
        K.TABLE,
        "<table><thead><tr><th>Town</th><th>People</th></tr></thead>"
        "<tbody><tr><td>Bath</td><td><b>2</b></td></tr></tbody></table>",
    ),
    (K.TEXT, "<p>cated word, see the project page.</p><p>And a new paragraph.</p>"),
)
CONTINUES = {"p6-b1": "p5-b4", "p6-b2": "p5-b1"}


def make_document() -> Document:
    """Seven pages: ok, ok, blank, partly read, two that hang together, and failed."""
    pages = (
        _page(1, PAGE_1, levels={2: 1, 3: 2}),
        _page(2, PAGE_2),
        Page(3, SIZE, PageStatus.BLANK),
        Page(
            4,
            SIZE,
            PageStatus.PARTIAL,
            rotation=90,
            blocks=(_block(4, 1, K.TEXT, "<p>Only this.</p>"),),
            problems=(Problem("picture-truncated", "The picture ends early", "p4-b1"),),
        ),
        _page(5, PAGE_5),
        _page(6, PAGE_6),
        Page(
            7,
            None,
            PageStatus.FAILED,
            problems=(Problem("page-timeout", "took longer than 60 s --> gave up"),),
        ),
    )
    metadata = Metadata(7, "application/pdf", "A <Sample>", "Nobody", "by hand", "0.1.0")
    return Document("sample.pdf", "0" * 64, pages, metadata)


FIGURES = {
    "p1-b12": "sample_files/p1-b12.png",
    "p2-b1": "sample_files/p2-b1.png",
    "p2-b3": "sample_files/p2-b3.jpg",
    "p2-b5": "sample_files/p2-b5.png",
    "p2-b6": "sample_files/p2-b6.png",
}


def _page(
    number: int, blocks: tuple[tuple[BlockKind, str], ...], levels: dict[int, int] | None = None
) -> Page:
    made = tuple(
        _block(number, index, kind, html, level=(levels or {}).get(index))
        for index, (kind, html) in enumerate(blocks, 1)
    )
    return Page(number, SIZE, PageStatus.OK, blocks=made, usage=Usage("by hand", 0.5, 0.4))


def _block(page: int, index: int, kind: BlockKind, html: str, *, level: int | None = None) -> Block:
    top = index / 20
    box = BBox(0.1, top, 0.9, top + 0.04)
    links: tuple[Link, ...] = ()
    if "project page" in html:
        links = (
            Link("https://example.org/a_(b)", box, "project page"),
            Link("#p2", box, "Müller et al. (2024)"),
            Link("javascript:alert(1)", box, "more"),
        )
    captions = {(1, 10): "p1-b9", (2, 2): "p2-b1", (5, 3): "p5-b4"}
    return Block(
        id=f"p{page}-b{index}",
        kind=kind,
        bbox=box,
        html=html,
        level=level,
        confidence=0.975 if kind is K.TEXT else None,
        links=links,
        origin=TextOrigin.OCR if kind is K.TEXT else TextOrigin.MODEL,
        font_size=10.5 if kind is K.TEXT else None,
        caption_for=captions.get((page, index)),
        continues=CONTINUES.get(f"p{page}-b{index}"),
    )
