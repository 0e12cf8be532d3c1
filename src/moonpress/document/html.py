"""The HTML inside blocks: what is let in, how it is parsed, and its visible text.

Owns the whitelist of tags and attributes that engines may emit and outputs may show. Never builds
blocks and never renders a format.
"""

from __future__ import annotations

import html as entities
import re
from functools import cache
from typing import Final

import lxml.html
import nh3
from lxml.html import HtmlElement

from moonpress.document.plain_html import as_plain

_INLINE: Final = (
    "a b big br chem code del em i img input ins kbd label mark math option q s samp select small"
    " span strike strong sub sup textarea u"
)
_BLOCK: Final = (
    "blockquote caption col colgroup dd div dl dt figcaption figure form h1 h2 h3 h4 h5 h6 hr li ol"
    " p pre table tbody td tfoot th thead tr ul"
)
_TAGS: Final = frozenset(f"{_INLINE} {_BLOCK}".split())
_ATTRIBUTES: Final = {
    "*": {"dir", "lang"},
    "a": {"href"},
    "code": {"class"},
    "col": {"span"},
    "div": {"class"},
    "img": {"alt"},
    "input": {"type", "checked", "value"},
    "li": {"value"},
    "math": {"display"},
    "ol": {"start", "type"},
    "option": {"selected"},
    "pre": {"class"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
}
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})

_MATH: Final = re.compile(r"(<math\b[^<>]*>)(.*?)(</math\s*>)", re.IGNORECASE | re.DOTALL)
# A formula that was never closed ends at the next tag: inside one, sanitisers drop unknown elements
# with what they hold.
_OPEN_MATH: Final = re.compile(r"(<math\b[^<>]*>)([^<]*)(?!</math)(?=<|$)", re.IGNORECASE)
_ENTITY: Final = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
# Control characters that no HTML, XML or terminal wants, and halves of surrogate pairs.
_UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_CONTROL: Final = bytes([*range(9), 11, 12, *range(14, 32), 127])
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# HTML parsers drop one line break here, so leading ones would change with every pass.
_PRE_START: Final = re.compile(r"(<pre\b[^<>]*>)\n+", re.IGNORECASE)

_TEXT: Final = re.compile(r"(?:^|>)[^<]*?[^\s<]")

_BLOCK_TAGS: Final = frozenset(_BLOCK.split()) - {"caption", "col", "colgroup", "td", "th"}


def clean_text(text: str) -> str:
    """``text`` without control characters; lone surrogates become U+FFFD, so it can be encoded."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", _UNWANTED.sub("", text))
    clean = len(data.translate(None, _CONTROL)) == len(data)
    if clean and "\ufffe" not in text and "\uffff" not in text:
        return text
    return _UNWANTED.sub("", text)


def sanitise(html: str) -> str:
    """HTML that holds nothing but whitelisted markup, well nested.

    Scripts, styles, event handlers, foreign pictures and dangerous links are dropped; the text in
    unknown tags is kept. LaTeX inside ``<math>`` may contain bare ``<`` and ``&``: it comes out
    escaped and otherwise as it was. Applying it twice changes nothing.
    """
    text = clean_text(html)
    plain = as_plain(text)
    if plain is not None:
        return plain
    lower = text.lower()
    if "<math" in lower:
        text = _OPEN_MATH.sub(r"\1\2</math>", _MATH.sub(_protect, text))
    cleaned = _cleaner().clean(text)
    return _PRE_START.sub(r"\1", cleaned) if "<pre" in lower else cleaned


@cache
def _cleaner() -> nh3.Cleaner:
    """Building one costs more than cleaning a block with it."""
    return nh3.Cleaner(
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes=set(_SCHEMES),
        link_rel=None,
    )


def has_text(html: str) -> bool:
    """Whether sanitised HTML shows any text; far cheaper than `visible_text`."""
    return _TEXT.search(html.replace("&nbsp;", " ")) is not None


def is_safe_link(href: str) -> bool:
    """Whether a hyperlink may be shown: an anchor of this document, or one of the usual schemes."""
    scheme, colon, _ = href.partition(":")
    return href.startswith("#") or bool(colon and scheme.strip().lower() in _SCHEMES)


def parse_fragment(html: str) -> HtmlElement:
    """Inner HTML as a tree under one ``div``; any string parses."""
    cleaned = clean_text(html)
    if not cleaned.strip():
        return lxml.html.Element("div")
    return lxml.html.fragment_fromstring(_MATH.sub(_protect, cleaned), create_parent="div")


def inner_html(element: HtmlElement) -> str:
    """What stands inside ``element``, as HTML."""
    parts = [entities.escape(element.text or "", quote=False)]
    parts += [lxml.html.tostring(child, encoding="unicode") for child in element]
    return "".join(parts)


def tag_of(element: HtmlElement) -> str:
    """Lower-case tag name; empty for comments and processing instructions."""
    return element.tag.lower() if isinstance(element.tag, str) else ""


def is_block(element: HtmlElement) -> bool:
    """Whether ``element`` stands on lines of its own."""
    tag = tag_of(element)
    return tag in _BLOCK_TAGS or (tag == "math" and element.get("display") == "block")


def visible_text(html: str) -> str:
    """The words of a block, LaTeX as it is, one space between words; no picture descriptions."""
    parts: list[str] = []
    _collect_text(parse_fragment(html), parts)
    return " ".join("".join(parts).split())


def _collect_text(element: HtmlElement, parts: list[str]) -> None:
    parts.append(element.text or "")
    for child in element:
        tag = tag_of(child)
        apart = is_block(child) or tag in {"br", "td", "th", "caption"}
        parts.append(" " if apart else "")
        if tag:
            _collect_text(child, parts)
        parts.append(" " if apart else "")
        parts.append(child.tail or "")


def _protect(match: re.Match[str]) -> str:
    """Escape LaTeX that would otherwise be taken for tags and entities."""
    start, latex, end = match.groups()
    plain = _ENTITY.sub(lambda entity: entities.unescape(entity[0]), latex)
    return f"{start}{entities.escape(plain, quote=False)}{end}"
