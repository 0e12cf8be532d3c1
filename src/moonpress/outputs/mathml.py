"""LaTeX as MathML that browsers show without a script.

Owns the conversion and the checks that keep it from harm. Never decides what is shown where a
formula cannot be converted: it says so.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from math_core import LatexError, LatexToMathML

from moonpress.outputs.latex import bare_latex

# math-core 0.9 recurses for every level and ends the process when the stack is full: on a stack of
# 256 KB (the smallest thread stack known is macOS's 512 KB) 50 levels pass and 100 do not. It tries
# both readings of every unmatched opening bracket, so 20 of them take 0.1 s and 40 never end.
_MAX_LENGTH: Final = 5_000
_MAX_DEPTH: Final = 40
_MAX_UNMATCHED: Final = 10

_TOKEN: Final = re.compile(r"\\(?:[A-Za-z]+|.)|\S", re.DOTALL)
_DEEPER: Final = frozenset({"{", r"\left", r"\begin"})
_SHALLOWER: Final = frozenset({"}", r"\right", r"\end"})
_OPENER: Final = re.compile(
    r"[(\[⟨⟦⌈⌊⟮❲〈《「【]|\\(?:\{|l(?:brace|brack|paren|angle|floor|ceil|vert|Vert|group|moustache"
    r"|Brace|Angle|Bracket|bracket|corner)$|[ul]lcorner$|llparenthesis$|llbracket$)"
)
_CLOSER: Final = re.compile(
    r"[)\]⟩⟧⌉⌋⟯❳〉》」】]|\\(?:\}|r(?:brace|brack|paren|angle|floor|ceil|vert|Vert|group|moustache"
    r"|Brace|Angle|Bracket|bracket|corner)$|[ul]rcorner$|rrparenthesis$|rrbracket$)"
)
_SWITCH: Final = re.compile(r"\\(?:\w+style|rm|bf|it|sf|tt|cal|color|over|choose|atop|\w+size)$")

# These number their lines by themselves; the page's own number, if any, is in \tag.
_NUMBERED: Final = re.compile(
    r"\\(begin|end)\{(align|alignat|equation|gather|multline|eqnarray|flalign)\}"
)
_TAG: Final = re.compile(r"\\tag\b")


class Formulas:
    """Converts the formulas of one document."""

    def __init__(self) -> None:
        self._converter = LatexToMathML(fancy_error=False)

    def mathml(self, latex: str, *, display: bool) -> str | None:
        """A ``<math>`` element with the LaTeX in an annotation; ``None`` if it cannot be made."""
        source = bare_latex(latex)
        if not source or not is_tame(source):
            return None
        prepared = _NUMBERED.sub(r"\\\1{\2*}", source)
        if _TAG.search(prepared) and not _NUMBERED.search(source) and "*}" not in prepared:
            prepared = rf"\begin{{equation*}}{prepared}\end{{equation*}}"
        try:
            made = self._converter.convert_with_local_state(prepared, displaystyle=display)
        except LatexError:
            return None
        start, end = made.index(">") + 1, made.rindex("</math>")
        annotation = f'<annotation encoding="application/x-tex">{escape(source)}</annotation>'
        body = f"<semantics><mrow>{made[start:end]}</mrow>{annotation}</semantics>"
        return f"{made[:start]}{body}</math>"


def is_tame(latex: str) -> bool:
    """Whether the converter can be trusted with ``latex``: not too deep, brackets mostly closed."""
    if len(latex) > _MAX_LENGTH:
        return False
    depth = chain = switches = unmatched = 0
    open_brackets = [0]
    for token in _TOKEN.findall(latex):
        chain = chain + 1 if token.startswith("\\") else 0
        if token in _DEEPER:
            depth += 1
            open_brackets.append(0)
        elif token in _SHALLOWER:
            depth -= 1
            unmatched += open_brackets.pop() if len(open_brackets) > 1 else 0
        elif _OPENER.match(token):
            open_brackets[-1] += 1
        elif _CLOSER.match(token):
            open_brackets[-1] -= 1 if open_brackets[-1] else 0
        elif _SWITCH.match(token):
            switches += 1
        if max(depth + open_brackets[-1], chain, switches) > _MAX_DEPTH:
            return False
    return unmatched + sum(open_brackets) <= _MAX_UNMATCHED
