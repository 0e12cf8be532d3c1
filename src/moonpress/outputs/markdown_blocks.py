"""Blocks of HTML as blocks of Markdown: paragraphs, headings, lists, code, quotes.

Owns the walk over block elements and the joining of Markdown blocks. Never looks at the document
model: see `markdown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from lxml.html import HtmlElement

from moonpress.document.html import is_block, tag_of
from moonpress.outputs.inline import InlineStyle, Place, render_inline
from moonpress.outputs.latex import display_latex
from moonpress.outputs.markdown_tables import render_table
from moonpress.outputs.tokens import tokenise, tokenise_run

_HEADING: Final = re.compile(r"h([1-6])$")
_ORDERED: Final = re.compile(r"(\d{1,9})\. ")
_LANGUAGE: Final = re.compile(r"(?:^|\s)language-([^\s`]+)")
# Ends a list for a renderer, and shows nothing.
_DIVIDER: Final = "<!-- -->"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_ROMAN: Final = ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i")
_MAX_START: Final = 999_999_999


def render_blocks(
    element: HtmlElement, style: InlineStyle, place: Place = Place.PARAGRAPH
) -> list[str]:
    """What stands inside ``element`` as Markdown blocks, to be joined by `join_blocks`.

    Args:
        element: Its tag and attributes are not looked at.
        style: How running text is written.
        place: Where the first paragraph stands.
    """
    blocks: list[str] = []
    run: list[HtmlElement | str] = []

    def flush() -> None:
        where = Place.PARAGRAPH if blocks else place
        blocks.extend(_paragraph(render_inline(tokenise_run(run), where, style)))
        run.clear()

    for node in _nodes(element):
        if isinstance(node, str) or not _breaks_out(node):
            run.append(node)
        else:
            flush()
            blocks.extend(_block(node, style, Place.PARAGRAPH if blocks else place))
    flush()
    return blocks


def render_heading(element: HtmlElement, level: int, style: InlineStyle) -> list[str]:
    """A heading of ``level`` (1-6) with what stands inside ``element``; none if it is empty."""
    text = render_inline(tokenise(element), Place.HEADING, style)
    return [f"{'#' * min(max(level, 1), 6)} {text}"] if text else []


def render_code(element: HtmlElement) -> list[str]:
    """A fenced block of the code inside ``element``."""
    code = code_text(element).strip("\n")
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{_language(element)}\n{code}\n{fence}"]


def code_text(element: HtmlElement) -> str:
    """Text inside ``element`` with its line breaks and spaces as they are."""
    parts = [element.text or ""]
    for child in element:
        parts.append("\n" if tag_of(child) == "br" else code_text(child))
        parts.append(child.tail or "")
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n")


def join_blocks(blocks: Iterable[str]) -> str:
    """One text of ``blocks``, kept apart where two numbered lists would run into one."""
    out: list[str] = []
    for block in blocks:
        if out and _would_join(out[-1], block):
            out.append(_DIVIDER)
        out.append(block)
    return "\n\n".join(out)


def list_marker(number: int, kind: str) -> str:
    """``3.``, or letters or Roman numbers as HTML's ``type`` asks for."""
    if kind in {"a", "A"} and 0 < number <= len(_LETTERS):
        text = _LETTERS[number - 1]
    elif kind in {"i", "I"} and 0 < number < 4000:
        text = _roman(number)
    else:
        return f"{number}."
    return f"{text.upper() if kind.isupper() else text}."


def list_items(element: HtmlElement) -> Iterator[tuple[str, list[HtmlElement]]]:
    """Marker (``-``, ``3.``, ``b.``) and elements of every item; a list loose in it goes along."""
    ordered = tag_of(element) == "ol"
    number = _number(element.get("start"), 1)
    items: list[tuple[str, list[HtmlElement]]] = []
    for child in element:
        tag = tag_of(child)
        if tag in {"ul", "ol"} and items:
            items[-1][1].append(child)
        elif tag:
            number = _number(child.get("value"), number)
            marker = list_marker(number, element.get("type", "1")) if ordered else "-"
            items.append((marker, [child]))
            number += 1
    yield from items


def _nodes(element: HtmlElement) -> Iterator[HtmlElement | str]:
    yield element.text or ""
    for child in element:
        yield child
        yield child.tail or ""


def _breaks_out(element: HtmlElement) -> bool:
    """Whether ``element`` is or holds something that cannot stand in running text."""
    return is_block(element) or any(is_block(e) for e in element.iterdescendants())


def _block(element: HtmlElement, style: InlineStyle, place: Place) -> list[str]:
    tag = tag_of(element)
    heading = _HEADING.match(tag)
    if heading:
        return render_heading(element, int(heading[1]), style)
    if tag == "pre" or "mermaid" in element.get("class", "").split():
        return render_code(element)
    if tag == "math":
        return _paragraph(display_latex(element.text_content(), style.delimiters))
    if tag == "hr":
        return ["***"]
    special: dict[str, Callable[[HtmlElement, InlineStyle], list[str]]] = {
        "blockquote": _quote,
        "ol": _list,
        "table": render_table,
        "ul": _list,
    }
    if tag in special:
        return special[tag](element, style)
    return render_blocks(element, style, place)


def _paragraph(text: str) -> list[str]:
    return [text] if text else []


def _quote(element: HtmlElement, style: InlineStyle) -> list[str]:
    text = join_blocks(render_blocks(element, style))
    return ["\n".join(f"> {line}".rstrip(" ") for line in text.split("\n"))] if text else []


def _list(element: HtmlElement, style: InlineStyle) -> list[str]:
    """A list; several Markdown lists where its numbers do not count on."""
    lists: list[list[tuple[str, list[str]]]] = []
    expected: int | None = None
    for marker, elements in list_items(element):
        blocks = _item(elements, style)
        number = int(marker[:-1]) if marker[:-1].isdecimal() else None
        if number is not None and number > _MAX_START:
            number = None
        if marker != "-" and number is None:
            # Markdown has no letters: they stand as text in a plain list.
            blocks = [" ".join([marker, *blocks[:1]]), *blocks[1:]]
        if not lists or number != expected:
            lists.append([])
        lists[-1].append(("-" if number is None else marker, blocks))
        expected = None if number is None else number + 1
    return [_items(items) for items in lists]


def _item(elements: Sequence[HtmlElement], style: InlineStyle) -> list[str]:
    blocks: list[str] = []
    for element in elements:
        if tag_of(element) in {"ul", "ol"}:
            blocks += _list(element, style)
        else:
            blocks += render_blocks(element, style, Place.PARAGRAPH if blocks else Place.ITEM)
    return blocks


def _items(items: Sequence[tuple[str, list[str]]]) -> str:
    tight = all(_is_tight(blocks) for _, blocks in items)
    lines: list[str] = []
    for marker, blocks in items:
        text = "\n".join(blocks) if tight else join_blocks(blocks)
        indent = " " * (len(marker) + 1)
        first, *rest = text.split("\n")
        lines.append(f"{marker} {first}".rstrip(" ") if not first else f"{marker} {first}")
        lines += [f"{indent}{line}" if line else "" for line in rest]
        if not tight:
            lines.append("")
    return "\n".join(lines).strip("\n")


def _is_tight(blocks: Sequence[str]) -> bool:
    """Whether an item needs no empty line: one block, and lists that may follow it directly."""
    return len(blocks) < 2 or (len(blocks) == 2 and blocks[1].startswith(("- ", "1. ")))


def _would_join(before: str, after: str) -> bool:
    """Whether a renderer would take two numbered lists for one and count on wrongly."""
    start = _ORDERED.match(after)
    if not start or not _ORDERED.match(before):
        return False
    numbers = [m for m in map(_ORDERED.match, before.split("\n")) if m]
    return int(start[1]) != int(numbers[-1][1]) + 1


def _language(element: HtmlElement) -> str:
    for candidate in element.iter():
        classes = candidate.get("class", "") if tag_of(candidate) else ""
        if "mermaid" in classes.split():
            return "mermaid"
        language = _LANGUAGE.search(classes)
        if language:
            return language[1]
    return ""


def _number(text: str | None, default: int) -> int:
    try:
        return int(text) if text else default
    except ValueError:
        return default


def _roman(number: int) -> str:
    text = ""
    values = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    for value, mark in zip(values, _ROMAN, strict=True):
        text += mark * (number // value)
        number %= value
    return text
