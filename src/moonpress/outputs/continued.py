"""Two parts of a paragraph or a table, from two pages, as one.

Owns the joint: hyphens, spaces, repeated headers. Never decides what belongs together: the
document's blocks say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import lxml.html
from lxml.html import HtmlElement

from moonpress.document.html import tag_of
from moonpress.outputs.tables import read_grid, repeated_header

# On each element that came from a later block: that block's id.
PART = "data-block"
_BROKEN_WORD = re.compile(r"[^\W\d_][-\u2010]$")
_UNSPACED = re.compile(r"[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


def append_part(root: HtmlElement, rest: HtmlElement, part_id: str) -> None:
    """Append the later part of a block to its beginning, in place.

    Args:
        root: The tree so far, under one ``div``.
        rest: The tree of the later part; it is used up.
        part_id: Id of the block that ``rest`` is of; its elements are marked with it.
    """
    table, more = root.find("table"), rest.find("table")
    if table is not None and more is not None:
        _append_rows(table, more, part_id)
    else:
        _append_text(root, rest, part_id)


def _append_rows(table: HtmlElement, more: HtmlElement, part_id: str) -> None:
    rest = read_grid(more)
    repeated = repeated_header(read_grid(table), rest) or 0
    body = lxml.html.Element("tbody", {PART: part_id})
    rows = [e for e in more.iter("tr") if next(e.iterancestors("table")) is more]
    body.extend(rows[repeated:])
    table.append(body)


def _append_text(root: HtmlElement, rest: HtmlElement, part_id: str) -> None:
    if (rest.text or "").strip():
        # Loose text is no paragraph, so it is not known where its first one ends.
        rest.set(PART, part_id)
        root.append(rest)
        return
    paragraphs = list(rest)
    if paragraphs and _ends_in_paragraph(root) and tag_of(paragraphs[0]) == "p":
        second = paragraphs.pop(0)
        _join(root[-1], second, part_id)
        root[-1].tail = second.tail
    for paragraph in paragraphs:
        paragraph.set(PART, part_id)
        root.append(paragraph)


def _ends_in_paragraph(root: HtmlElement) -> bool:
    return len(root) > 0 and tag_of(root[-1]) == "p" and not (root[-1].tail or "").strip()


def _join(first: HtmlElement, second: HtmlElement, part_id: str) -> None:
    """Append what stands in ``second`` to the paragraph ``first``."""
    before = _change_last(first, str.rstrip)
    after = (second.text_content() or "").lstrip()
    part = lxml.html.Element("span", {PART: part_id})
    part.text = (second.text or "").lstrip()
    part.extend(list(second))
    if _splits_word(before, after):
        _change_last(first, lambda text: text[:-1])
    elif not _tight(before, after):
        _append_string(first, " ")
    first.append(part)


def _change_last(element: HtmlElement, change: Callable[[str], str]) -> str:
    """Change the last piece of text in ``element``, and say what it is then."""
    owner, attribute = element, "text"
    while len(owner):
        owner = owner[-1]
        if (owner.tail or "").strip():
            attribute = "tail"
            break
    text = change(getattr(owner, attribute) or "")
    setattr(owner, attribute, text)
    return text


def _append_string(element: HtmlElement, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _splits_word(before: str, after: str) -> bool:
    """Whether the hyphen at the end is there for the page break only, as far as can be told."""
    if before.endswith("\u00ad"):
        return True
    if not _BROKEN_WORD.search(before[-2:]) or not after[:1].islower():
        return False
    word = before.rsplit(None, 1)[-1]
    return "-" not in word[:-1] and "/" not in word


def _tight(before: str, after: str) -> bool:
    """Whether no space belongs between the parts."""
    if _BROKEN_WORD.search(before[-2:]):
        return True
    return bool(_UNSPACED.match(before[-1:]) and _UNSPACED.match(after[:1]))
