"""Bullets and numbers: what begins a list item, and items into ``<ul>`` and ``<ol>``.

Owns list markers and list HTML. Never decides where a paragraph begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_BULLET = re.compile(
    r"^[\u2022\u25cf\u25aa\u25a0\u25e6\u2023\u2043\u25cb\u25ba\u27a2\u2713\uf0b7\uf0a7*]\s*(?=\S)|^[-\u2013\u2014\u00b7]\s+(?=\S)"
)
_NUMBER = re.compile(r"^(\d{1,3})[.)]\s+(?=\S)")
_LABEL = re.compile(
    r"^(?:\((?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})\)|(?:[a-z]|[ivx]{2,4})[.)]|\[\s?\d{1,3}\])\s+(?=\S)"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """How a list item begins.

    Attributes:
        length: Letters of the text that ``<ul>`` or ``<ol>`` stand for; 0 for labels such as
            ``(a)``, which HTML would not keep and which stay in the text.
        number: The number of an ``<ol>`` item.
    """

    length: int
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One list item: its text with the marker, and the pixel at which it begins."""

    text: str
    left: float


def marker_of(text: str) -> Marker | None:
    """The list marker with which ``text`` begins, if it does."""
    if found := _BULLET.match(text):
        return Marker(found.end())
    if found := _NUMBER.match(text):
        return Marker(found.end(), int(found[1]))
    return Marker(0) if _LABEL.match(text) else None


def list_html(items: Sequence[Item], indent: float) -> str:
    """Items as nested HTML lists; ``indent`` is the least step in pixels between two levels."""
    html, position = "", 0
    while position < len(items):
        part, position = _level(items, position, indent)
        html += part
    return html


def _level(items: Sequence[Item], start: int, indent: float) -> tuple[str, int]:
    """The list that begins at ``start``, and where it ends."""
    first = items[start]
    marker = marker_of(first.text)
    ordered = marker is not None and marker.number is not None
    expected = marker.number if marker else None
    entries: list[str] = []
    position = start
    while position < len(items):
        item = items[position]
        if item.left > first.left + indent and entries:
            inner, position = _level(items, position, indent)
            entries[-1] += inner
            continue
        number = _number(item.text)
        if item.left < first.left - indent or (entries and number != expected):
            break
        entries.append(_entry(item.text))
        expected = None if number is None else number + 1
        position += 1
    body = "".join(f"<li>{entry}</li>" for entry in entries)
    if not ordered:
        return f"<ul>{body}</ul>", position
    begin = marker.number if marker else 1
    return (f"<ol>{body}</ol>" if begin == 1 else f'<ol start="{begin}">{body}</ol>'), position


def _number(text: str) -> int | None:
    marker = marker_of(text)
    return marker.number if marker else None


def _entry(text: str) -> str:
    marker = marker_of(text)
    return escape(text[marker.length :] if marker else text, quote=False)
