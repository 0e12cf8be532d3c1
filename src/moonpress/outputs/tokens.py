"""Running text as a flat list of tokens, the step between HTML and Markdown.

Owns the tokens, how HTML's white space collapses over them, and how inline HTML becomes them.
Never writes Markdown: see `inline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import count, groupby
from typing import Final

from lxml.html import HtmlElement

from moonpress.document.html import is_block, is_safe_link, tag_of

_EMPHASIS: Final = {
    "b": "b",
    "strong": "b",
    "em": "i",
    "i": "i",
    "del": "s",
    "s": "s",
    "strike": "s",
}
_KEPT_TAGS: Final = frozenset({"ins", "mark", "sub", "sup", "u"})
_CODE_TAGS: Final = frozenset({"chem", "code", "kbd", "samp"})
_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_BLANK_FIELD: Final = "____"


class Kind(Enum):
    """What a token is."""

    TEXT = "text"
    MATH = "math"
    CODE = "code"
    FIELD = "field"
    BREAK = "break"
    OPEN = "open"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of running text.

    Attributes:
        kind: What it is.
        value: Plain text, LaTeX, code, the mark of a checkbox; for OPEN and CLOSE ``b``, ``i``,
            ``s``, ``a``, or a tag to keep. A BREAK between paragraphs has ``p``.
        pair: Number shared by an OPEN and its CLOSE.
        href: Target, for links.
    """

    kind: Kind
    value: str = ""
    pair: int = -1
    href: str = ""


_GLUE: Final = {Kind.TEXT: "", Kind.CODE: "", Kind.MATH: " "}
_SPACE: Final = Token(Kind.TEXT, " ")


def tokenise(element: HtmlElement) -> list[Token]:
    """What stands inside ``element``, without looking at ``element`` itself."""
    return tidy(_inside(element, count()))


def tokenise_run(nodes: Iterable[HtmlElement | str]) -> list[Token]:
    """A run of strings and inline elements; tails of the elements are not looked at."""
    numbers = count()
    tokens: list[Token] = []
    for node in nodes:
        if isinstance(node, str):
            tokens.append(Token(Kind.TEXT, node))
        else:
            tokens.extend(_element(node, numbers))
    return tidy(tokens)


def plain(tokens: Iterable[Token]) -> str:
    """The words alone."""
    words = {Kind.TEXT, Kind.MATH, Kind.CODE, Kind.FIELD}
    parts = (" " if t.kind is Kind.BREAK else t.value if t.kind in words else "" for t in tokens)
    return " ".join("".join(parts).split())


def tidy(tokens: Iterable[Token]) -> list[Token]:
    """White space collapsed, none at the ends or just inside of marks; empty marks gone."""
    out: list[Token] = []
    for token in _split_spaces(_merge(tokens)):
        if token.kind is Kind.CLOSE and out and out[-1].pair == token.pair:
            out.pop()
        elif token.kind is Kind.CLOSE and out and _is_gap(out[-1]):
            out.insert(len(out) - 1, token)
        elif _is_gap(token):
            _place_gap(token, out)
        else:
            out.append(token)
    while out and _is_gap(out[-1]):
        out.pop()
    return _merge(out)


def checkbox(element: HtmlElement) -> str:
    """``[x]`` or ``[ ]`` for a checkbox or radio button; empty for other fields."""
    if element.get("type", "").lower() not in {"checkbox", "radio"}:
        return ""
    return "[ ]" if element.get("checked") is None else "[x]"


def _field_text(element: HtmlElement) -> str:
    """What a form field shows: its value, or a blank to fill in."""
    if element.get("type", "").lower() == "hidden":
        return ""
    return element.get("value", "") or _BLANK_FIELD


def _inside(element: HtmlElement, numbers: Iterator[int]) -> Iterator[Token]:
    yield Token(Kind.TEXT, element.text or "")
    for child in element:
        yield from _element(child, numbers)
        yield Token(Kind.TEXT, child.tail or "")


def _element(element: HtmlElement, numbers: Iterator[int]) -> Iterator[Token]:
    tag = tag_of(element)
    leaf = _leaf(element, tag)
    if leaf is not None:
        yield leaf
    elif tag in _EMPHASIS:
        yield from _paired(element, _EMPHASIS[tag], "", numbers)
    elif tag == "a" and is_safe_link(element.get("href", "")):
        yield from _paired(element, "a", element.get("href", ""), numbers)
    elif tag in _KEPT_TAGS:
        yield from _paired(element, tag, "", numbers)
    elif tag:
        # An option of a menu stands beside the next one, a block of its own above it.
        apart = Token(Kind.TEXT, " " if tag in {"option", "td", "th"} else "")
        if is_block(element):
            apart = Token(Kind.BREAK, "p")
        yield apart
        yield from _inside(element, numbers)
        yield apart


def _leaf(element: HtmlElement, tag: str) -> Token | None:
    """The token of an element that is taken as a whole."""
    if tag == "math":
        return Token(Kind.MATH, element.text_content())
    if tag in _CODE_TAGS:
        return Token(Kind.CODE, _SPACES.sub(" ", element.text_content()).strip())
    if tag == "br":
        return Token(Kind.BREAK)
    if tag == "img":
        return Token(Kind.TEXT, element.get("alt", ""))
    if tag == "input":
        box = checkbox(element)
        return Token(Kind.FIELD, box) if box else Token(Kind.TEXT, _field_text(element))
    return None


def _paired(element: HtmlElement, value: str, href: str, numbers: Iterator[int]) -> Iterator[Token]:
    pair = next(numbers)
    yield Token(Kind.OPEN, value, pair, href)
    yield from _inside(element, numbers)
    yield Token(Kind.CLOSE, value, pair, href)


def _merge(tokens: Iterable[Token]) -> list[Token]:
    """Neighbours of one kind as one: touching marks of code and formulas would be misread."""
    merged: list[Token] = []
    worded = (token for token in tokens if token.value or token.kind not in _GLUE)
    for kind, group in groupby(worded, key=lambda token: token.kind):
        if kind in _GLUE:
            # All at once: a book's worth of text pieced together pair by pair takes minutes.
            value = _GLUE[kind].join(token.value for token in group)
            merged.append(Token(kind, _SPACES.sub(" ", value)))
        else:
            merged += group
    return merged


def _split_spaces(tokens: Iterable[Token]) -> Iterator[Token]:
    """Spaces at the ends of texts as tokens of their own."""
    for token in tokens:
        if token.kind is not Kind.TEXT:
            yield token
            continue
        core = token.value.strip(" ")
        if token.value.startswith(" "):
            yield _SPACE
        if core:
            yield Token(Kind.TEXT, core)
            if token.value.endswith(" "):
                yield _SPACE


def _is_gap(token: Token) -> bool:
    return token.kind is Kind.BREAK or token == _SPACE


def _place_gap(gap: Token, out: list[Token]) -> None:
    """Put a space or break before the marks that are open at the end of ``out``."""
    place = len(out)
    while place and out[place - 1].kind is Kind.OPEN:
        place -= 1
    before = out[place - 1] if place else None
    if before is None:
        return
    if gap.kind is Kind.BREAK and (before == _SPACE or before.value == "p"):
        out[place - 1] = gap
    elif not _is_gap(before):
        # One break at a time: two would be an empty line, which ends marks that are open.
        out.insert(place, gap)
