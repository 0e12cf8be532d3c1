"""A block's text in a form that a person can change, and the way back.

Owns the three forms: LaTeX of a formula, plain text of code, and HTML of everything else, in which
formulas are islands that can be moved or deleted and not written in. Never stores anything.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from html import escape
from typing import Final, Literal, TypeAlias

import lxml.html
from lxml.html import HtmlElement

from moonpress.document import Block, BlockKind
from moonpress.document.html import inner_html, parse_fragment, sanitise, tag_of
from moonpress.errors import UsageError
from moonpress.outputs.latex import bare_latex
from moonpress.outputs.mathml import Formulas

Form: TypeAlias = Literal["latex", "text", "html"]
ISLAND: Final = "data-formula"
_LONGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Editable:
    """What a person is shown to change a block.

    Attributes:
        form: How ``value`` is written.
        value: It.
    """

    form: Form
    value: str


def editable(block: Block) -> Editable:
    """A block as a person can change it."""
    root = parse_fragment(block.html)
    formulas = list(root.iter("math"))
    if block.kind is BlockKind.FORMULA and len(formulas) == 1:
        return Editable("latex", bare_latex(formulas[0].text_content()))
    if block.kind is BlockKind.CODE and _code_of(root) is not None:
        return Editable("text", root.text_content())
    return Editable("html", _with_islands(root, formulas))


def rewritten(block: Block, value: str) -> str:
    """The block's new HTML, as safe as an engine's, from what a person made of `editable`.

    Raises:
        UsageError: it is longer than any block.
    """
    if len(value) > _LONGEST:
        raise UsageError("the text is too long for one block", hint="Shorten it")
    form = editable(block).form
    if form == "latex":
        return sanitise(f'<math display="block">{escape(value.strip(), quote=False)}</math>')
    root = parse_fragment(block.html)
    if form == "text":
        code = _code_of(root)
        if code is not None:
            for child in list(code):
                code.remove(child)
            code.text = value
        return sanitise(inner_html(root))
    return sanitise(_without_islands(value, list(root.iter("math"))))


def _code_of(root: HtmlElement) -> HtmlElement | None:
    """The one element that holds all the code."""
    found: list[HtmlElement] = [e for e in root.iter() if tag_of(e) in {"pre", "code"}]
    return found[-1] if found and len(root) == 1 else None


def _with_islands(root: HtmlElement, formulas: list[HtmlElement]) -> str:
    mathml, marks = Formulas(), {}
    for index, formula in enumerate(formulas):
        latex = formula.text_content()
        shown = mathml.mathml(latex, display=formula.get("display") == "block")
        mark = f"formula-{index}-island"
        marks[f"<!--{mark}-->"] = (
            f'<span class="island" contenteditable="false" {ISLAND}="{index}">'
            f"{shown or escape(bare_latex(latex))}</span>"
        )
        comment = lxml.etree.Comment(mark)
        comment.tail = formula.tail
        formula.getparent().replace(formula, comment)
    html = inner_html(root)
    for text, island in marks.items():
        html = html.replace(text, island)
    return html


def _without_islands(value: str, formulas: list[HtmlElement]) -> str:
    root = parse_fragment(value)
    for span in list(root.iter("span")):
        mark = span.get(ISLAND)
        if mark is None:
            span.drop_tag()
        elif mark.isdecimal() and int(mark) < len(formulas):
            formula = copy.deepcopy(formulas[int(mark)])
            formula.tail = span.tail
            span.getparent().replace(span, formula)
        else:
            span.drop_tree()
    return inner_html(root)
