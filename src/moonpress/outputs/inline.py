"""Running text as Markdown: emphasis, links, code, formulas, line breaks.

Owns which marks are used and when plain HTML tags must stand in for them. Never breaks text into
blocks: see `markdown_blocks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final
from urllib.parse import quote

from moonpress.document import Delimiters
from moonpress.outputs.escaping import (
    OTHER,
    Flanks,
    escape_heading,
    escape_line_start,
    escape_text,
    special_characters,
)
from moonpress.outputs.latex import inline_latex
from moonpress.outputs.tokens import Kind, Token

_MARKS: Final = {"b": "**", "i": "*", "s": "~~"}
_HARD_BREAK: Final = "  \n"
_LEADING_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ENTITY_IN_LINK: Final = re.compile(r"&(?=[A-Za-z0-9#]+;)")
# Everything that links may contain and Markdown does not react to; the rest is percent-encoded.
_LINK_SAFE: Final = "!#%&'*+,-./:;=?@_~[]"


class Place(Enum):
    """Where running text stands, which decides what would be taken for the start of a block."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    HEADING = "heading"
    CELL = "cell"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class InlineStyle:
    """How running text is written.

    Attributes:
        delimiters: Marks around LaTeX.
        page_links: Links to pages of the document (``#p7``) have an anchor to lead to.
    """

    delimiters: Delimiters
    page_links: bool = False


def render_inline(tokens: Sequence[Token], place: Place, style: InlineStyle) -> str:
    """Markdown of running text: one line, or more where it has breaks."""
    kept = [t for t in tokens if style.page_links or not t.href.startswith("#")]
    if style.delimiters is Delimiters.DOLLAR:
        kept = _numbers_into_formulas(kept)
    return _Inline(kept, place, style).render()


def link_target(href: str) -> str:
    """``href`` as the target of a Markdown link."""
    return _ENTITY_IN_LINK.sub("&amp;", quote(href, safe=_LINK_SAFE + _non_ascii(href)))


def code_span(code: str, *, cell: bool = False) -> str:
    """Inline code, its fence longer than any run of backticks in it."""
    runs = [len(run) for run in re.findall("`+", code)]
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    text = code.replace("|", r"\|") if cell else code
    return f"{fence}{pad}{text}{pad}{fence}"


class _Inline:
    """One piece of running text on its way to Markdown."""

    def __init__(self, tokens: Sequence[Token], place: Place, style: InlineStyle) -> None:
        self._tokens = tokens
        self._place = place
        self._style = style
        text = "".join(t.value if t.kind is Kind.TEXT else OTHER for t in tokens)
        kinds = {t.kind for t in tokens}
        code = "".join(t.value for t in tokens if t.kind is Kind.CODE)
        self._special = special_characters(
            text,
            emphasis=any(t.kind is Kind.OPEN and t.value in _MARKS for t in tokens),
            code=Kind.CODE in kinds,
            math=Kind.MATH in kinds or "$" in code,
        )
        if style.delimiters is Delimiters.BRACKET:
            self._special -= {"$"}

    def render(self) -> str:
        parts = self._plain_parts()
        self._place_marks(parts)
        lines: list[str] = []
        start = 0
        breaks = [i for i, t in enumerate(self._tokens) if t.kind is Kind.BREAK]
        for end in [*breaks, len(parts)]:
            line = "".join(parts[start:end])
            starts_plain = start < end and self._tokens[start].kind is Kind.TEXT
            lines.append(self._protect_line(line, first=not lines) if starts_plain else line)
            start = end + 1
        return self._join(lines)

    def _protect_line(self, line: str, *, first: bool) -> str:
        if self._place in {Place.HEADING, Place.CELL, Place.LABEL}:
            return line
        return escape_line_start(line, first=first, item=self._place is Place.ITEM)

    def _join(self, lines: Iterable[str]) -> str:
        if self._place is Place.HEADING:
            return escape_heading(" ".join(lines))
        return ("<br>" if self._place is Place.CELL else _HARD_BREAK).join(lines)

    def _plain_parts(self) -> list[str]:
        """Every token but the marks, written out; marks are still empty."""
        cell = self._place is Place.CELL
        parts: list[str] = []
        in_link = 1 if self._place is Place.LABEL else 0
        for index, token in enumerate(self._tokens):
            part = ""
            if token.value == "a":
                in_link += {Kind.OPEN: 1, Kind.CLOSE: -1}.get(token.kind, 0)
            if token.kind is Kind.TEXT:
                part = escape_text(token.value, self._special, cell=cell, link=in_link > 0)
                follower = self._tokens[index + 1] if index + 1 < len(self._tokens) else None
                if part.endswith("!") and follower is not None and follower.value == "a":
                    part = f"{part[:-1]}\\!"
            elif token.kind is Kind.MATH:
                part = inline_latex(token.value, self._style.delimiters, cell=cell)
            elif token.kind is Kind.CODE:
                part = code_span(token.value, cell=cell)
            elif token.kind is Kind.FIELD:
                part = token.value
            if part.startswith("(") and parts and parts[-1].endswith("]"):
                part = f"\\{part}"
            parts.append(part)
        return parts

    def _place_marks(self, parts: list[str]) -> None:
        """Fill in the marks: links and tags, then emphasis, the outer before the inner."""
        ends = {t.pair: i for i, t in enumerate(self._tokens) if t.kind is Kind.CLOSE}
        pairs = [(i, ends[t.pair]) for i, t in enumerate(self._tokens) if t.kind is Kind.OPEN]
        for start, end in pairs:
            name = self._tokens[start].value
            if name == "a":
                parts[start] = "["
                parts[end] = f"]({link_target(self._tokens[start].href)})"
            elif name not in _MARKS:
                parts[start], parts[end] = f"<{name}>", f"</{name}>"
        for start, end in pairs:
            name = self._tokens[start].value
            if name in _MARKS:
                fits = self._marks_fit(parts, start, end)
                parts[start] = _MARKS[name] if fits else f"<{name}>"
                parts[end] = _MARKS[name] if fits else f"</{name}>"

    def _marks_fit(self, parts: Sequence[str], start: int, end: int) -> bool:
        """Whether a renderer would take the marks at ``start`` and ``end`` as a pair."""
        last = len(parts) - 1
        edges = [parts[i] for i in (start - 1, start + 1, end - 1, end + 1) if 0 <= i <= last]
        if any(not e or e[0] in "*~" or (e[-1] in "*~" and e[-2:-1] != "\\") for e in edges):
            return False
        before, after = Flanks(*self._around(parts, start)), Flanks(*self._around(parts, end))
        return before.left and after.right

    @staticmethod
    def _around(parts: Sequence[str], index: int) -> tuple[str, str]:
        before = parts[index - 1][-1] if index > 0 else ""
        return before, parts[index + 1][0] if index + 1 < len(parts) else ""


def _numbers_into_formulas(tokens: Iterable[Token]) -> list[Token]:
    r"""Take a number that touches the end of a formula into it.

    A closing dollar before a digit is money to most renderers: ``3$\times$4`` would be no formula.
    """
    out: list[Token] = []
    for token in tokens:
        number = _LEADING_NUMBER.match(token.value) if token.kind is Kind.TEXT else None
        if number and out and out[-1].kind is Kind.MATH:
            out[-1] = Token(Kind.MATH, f"{out[-1].value.rstrip()} {number[0]}")
            rest = token.value[number.end() :]
            if rest:
                out.append(Token(Kind.TEXT, rest))
        else:
            out.append(token)
    return out


def _non_ascii(text: str) -> str:
    return "".join(c for c in text if not c.isascii() and not c.isspace())
