from __future__ import annotations

import re

import lxml.html
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
from moonpress.document.html import sanitise, visible_text
from moonpress.outputs.mathml import Formulas, is_tame
from tests.outputs.sample import FIGURES, make_document


def html_of(html: str, kind: BlockKind = BlockKind.TEXT, **figures: str) -> str:
    block = Block("p1-b1", kind, BBox(0, 0, 1, 1), html)
    page = Page(1, None, PageStatus.OK, blocks=(block,))
    document = Document("x.pdf", "", (page,), Metadata(1, "application/pdf"))
    links = {key.replace("_", "-"): link for key, link in figures.items()}
    return document.to_html(RenderOptions(figures=links))


ATTACKS = [
    "<script>alert(1)</script>",
    "<p onclick='alert(1)'>x</p>",
    "<img src=x onerror=alert(1) alt=q>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='  java\nscript:alert(1)'>x</a>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe src='https://evil.example'></iframe>",
    "<style>@import 'https://evil.example'</style>",
    "<link rel=stylesheet href='https://evil.example'>",
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    "<math>\\href{javascript:alert(1)}{x}</math>",
    "<math>\\text{</math><script>alert(1)</script>}",
    "<math>\\text{<img src=x onerror=alert(1)>}</math>",
    "<math></annotation></semantics></math><script>alert(1)</script>",
    "<input type=text autofocus onfocus=alert(1)>",
    "<form action='https://evil.example'><input name=q></form>",
    "<!--formula-0--><math>x</math><!--formula-9-->",
    "<pre><code class='\"><script>alert(1)</script>'>x</code></pre>",
    "<table background='https://evil.example'><tr><td style='background:url(//e)'>x</table>",
    "\x00<scr\x00ipt>alert(1)</script>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_runs_and_nothing_is_fetched(attack: str) -> None:
    text = html_of(attack)
    tree = lxml.html.document_fromstring(text.partition("\n")[2])
    tags = {e.tag for e in tree.iter() if isinstance(e.tag, str)}
    assert not tags & {"script", "iframe", "svg", "link", "object", "embed"}
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "javascript:" not in re.sub(r"\s", "", value.lower()) or name.startswith("data-")
            if name in {"src", "action", "background"}:
                pytest.fail(f"{name}={value} would be fetched")
    assert len([e for e in tree.iter() if e.tag == "style"]) == 1


@pytest.mark.parametrize("attack", ATTACKS)
def test_sanitising_twice_changes_nothing(attack: str) -> None:
    assert sanitise(sanitise(attack)) == sanitise(attack)


def test_names_and_messages_are_text() -> None:
    page = Page(1, None, PageStatus.FAILED)
    metadata = Metadata(1, "application/pdf", title="<script>alert(1)</script>")
    document = Document('"><script>x', "", (page,), metadata)
    assert "<script" not in document.to_html()


def test_blocks_say_where_they_stood() -> None:
    tree = lxml.html.document_fromstring(
        make_document().to_html(RenderOptions(figures=FIGURES)).partition("\n")[2]
    )
    (block,) = tree.xpath("//*[@id='p1-b4']")
    assert block.get("data-bbox") == "0.1 0.2 0.9 0.24"
    assert block.get("data-kind") == "text"
    assert block.get("data-page") == "1"
    assert block.get("data-confidence") == "0.975"
    assert [s.get("id") for s in tree.xpath("//section")] == [f"p{n}" for n in range(1, 8)]
    assert [s.get("data-status") for s in tree.xpath("//section")][3::3] == ["partial", "failed"]
    assert tree.xpath("//figure[@id='p2-b1']/figcaption[@id='p2-b2']")
    assert tree.xpath("//figure[@id='p2-b1']//img/@src") == ["sample_files/p2-b1.png"]
    assert tree.xpath("//img[not(@src)]") == []
    assert tree.xpath("//div[@id='p1-b2']/h1")


def test_parts_from_a_later_page_say_where_they_stood() -> None:
    tree = lxml.html.document_fromstring(make_document().to_html().partition("\n")[2])
    (row,) = tree.xpath("//div[@id='p5-b4']/table/tbody[@id='p6-b1']")
    (part,) = tree.xpath("//div[@id='p5-b1']/p/span[@id='p6-b2']")
    assert (row.get("data-page"), row.get("data-bbox")) == ("6", "0.1 0.05 0.9 0.09")
    assert (part.get("data-page"), part.get("data-bbox")) == ("6", "0.1 0.1 0.9 0.14")
    # The link of the later page is there, in the paragraph of the earlier one.
    assert part.xpath("./a/@href") == ["https://example.org/a_(b)"]
    assert len(tree.xpath("//*[@id='p6-b2']")) == 1


def test_formulas_are_mathml_with_their_latex() -> None:
    text = html_of("<p>a <math>\\frac{a}{b} &lt; 1</math> b</p>")
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in text
    assert '<annotation encoding="application/x-tex">\\frac{a}{b} &lt; 1</annotation>' in text


def test_formula_that_cannot_be_converted_stays_latex() -> None:
    text = html_of('<math display="block">\\unknowncommand{x}</math>')
    span = '<span class="math display" data-latex="\\unknowncommand{x}">\\unknowncommand{x}</span>'
    assert span in text


@pytest.mark.parametrize(
    ("latex", "present", "absent"),
    [
        ("\\begin{align}a&=b\\\\c&=d\\end{align}", "<mtable", "(1)"),
        ("x = 1 \\tag{3.2}", "(3.2)", "\\tag<"),
        ("\\begin{aligned}a&=b\\end{aligned}", "<mtable", "<mi>&amp;"),
    ],
)
def test_equation_numbers_are_those_of_the_page(latex: str, present: str, absent: str) -> None:
    made = Formulas().mathml(latex, display=True)
    assert made is not None
    shown = made.partition("<annotation")[0]
    assert present in shown
    assert absent not in shown


@pytest.mark.parametrize(
    "latex",
    ["{" * 9000, "\\sqrt{" * 500 + "}" * 500, "(" * 60, "f(" * 40, "{(}" * 40, "\\frac" * 2000,
     "\\left(" * 300, "\\{" * 30, "\\langle " * 30, "\\displaystyle" * 300, "\\sqrt[" * 200,
     "x" * 6000, "⟨" * 40],
)  # fmt: skip
def test_formulas_that_would_hang_or_crash_the_converter_are_refused(latex: str) -> None:
    assert not is_tame(latex)
    assert Formulas().mathml(latex, display=True) is None


def test_half_open_intervals_and_long_matrices_are_no_danger() -> None:
    intervals = " \\cup ".join(["[0, 1)"] * 60)
    matrix = "\\begin{pmatrix}" + " \\\\ ".join(["a_{1} & (b_{2})^{3}"] * 60) + "\\end{pmatrix}"
    assert Formulas().mathml(intervals, display=True)
    assert Formulas().mathml(matrix, display=True)


def test_visible_words_are_all_there() -> None:
    document = make_document()
    shown = "".join(
        visible_text(
            re.sub(r"(?s)<annotation.*?</annotation>|<head>.*?</head>", "", document.to_html())
        ).split()
    )
    for page in document.pages:
        for block in page.blocks:
            if block.id == "p5-b1":
                assert "breaksoffinsideacomplicatedword" in shown
            elif block.id == "p6-b1":
                assert "AyrBath" not in shown
                assert "Bath2" in shown
            elif "<math" not in block.html and block.kind not in {
                BlockKind.PAGE_HEADER,
                BlockKind.PAGE_FOOTER,
            }:
                assert "".join(visible_text(block.html).split()) in shown
