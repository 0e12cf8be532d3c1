"""LaTeX between the marks that Markdown readers expect.

Owns delimiters and the small rewritings that keep a formula whole inside them. Never checks LaTeX.
"""

from __future__ import annotations

import re
from typing import Final

from moonpress.document import Delimiters

_INNER_DOLLARS: Final = re.compile(r"(?<!\\)\$([^$]*?)(?<!\\)\$")
_LONE_DOLLAR: Final = re.compile(r"(?<!\\)\$")
_DOUBLE_BAR: Final = re.compile(r"(?<!\\)\\\|")
_OUTER_MARKS: Final = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))


def bare_latex(latex: str) -> str:
    """LaTeX without white space and delimiters around it, and without empty lines."""
    text = latex.strip()
    for start, end in _OUTER_MARKS:
        inner = text[len(start) : -len(end)]
        if text.startswith(start) and text.endswith(end) and inner.strip() and end not in inner:
            text = inner.strip()
            break
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def inline_latex(latex: str, delimiters: Delimiters, *, cell: bool = False) -> str:
    """A formula in running text; empty for an empty formula.

    Args:
        latex: What stands in ``<math>``.
        delimiters: Marks around it.
        cell: It stands in a cell of a pipe table, where a bare ``|`` would end the cell.
    """
    text = " ".join(bare_latex(latex).split("\n"))
    if not text:
        return ""
    if cell:
        text = _without_bars(text)
    if delimiters is Delimiters.BRACKET:
        return rf"\({text}\)"
    return f"${_without_dollars(text)}$"


def display_latex(latex: str, delimiters: Delimiters) -> str:
    """A formula on lines of its own; empty for an empty formula."""
    text = bare_latex(latex)
    if not text:
        return ""
    if delimiters is Delimiters.BRACKET:
        return f"\\[\n{text}\n\\]"
    return f"$$\n{_without_dollars(text)}\n$$"


def _without_dollars(latex: str) -> str:
    r"""Formulas inside ``\text{}`` with ``\(`` marks, since a dollar would end the outer one."""
    text = _INNER_DOLLARS.sub(r"\\(\1\\)", latex)
    return _LONE_DOLLAR.sub(r"\\$", text)


def _without_bars(latex: str) -> str:
    r"""Bars by name; column rules of arrays stay bars, with the backslash that tables ask for."""
    text = _DOUBLE_BAR.sub(r"\\Vert ", latex)
    text = text.replace("|", r"\|" if r"\begin{array}" in text else r"\vert ")
    return " ".join(text.split())
