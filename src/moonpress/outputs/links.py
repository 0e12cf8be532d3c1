"""Hyperlinks put back onto the words that they stood on.

Owns the search for a link's words in a block. Never decides which block a link lies on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import lxml.html
from lxml.html import HtmlElement

from moonpress.document import Link
from moonpress.document.html import is_safe_link, tag_of

_CLOSED = frozenset({"a", "chem", "code", "math", "pre", "textarea", "option"})


def restore_links(root: HtmlElement, links: Iterable[Link]) -> None:
    """Wrap the words of each link in ``<a>``, in place.

    Each link takes the first place, not yet taken, where its words stand as whole words in one
    piece of text. Links without words, or whose words are not found, are left out.
    """
    for link in links:
        words = link.text.split()
        if not words or not is_safe_link(link.href):
            continue
        pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)")
        for element, attribute in list(_texts(root)):
            found = pattern.search(getattr(element, attribute) or "")
            if found:
                _wrap(element, attribute, found, link.href)
                break


def _texts(element: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Every ``text`` and ``tail`` below ``element`` that a link may stand in, in order."""
    if tag_of(element) not in _CLOSED:
        yield element, "text"
        for child in element:
            yield from _texts(child)
            yield child, "tail"


def _wrap(element: HtmlElement, attribute: str, found: re.Match[str], href: str) -> None:
    anchor = lxml.html.Element("a", href=href)
    anchor.text = found[0]
    anchor.tail = found.string[found.end() :]
    before = found.string[: found.start()]
    if attribute == "text":
        element.text = before
        element.insert(0, anchor)
    else:
        parent = element.getparent()
        element.tail = before
        parent.insert(parent.index(element) + 1, anchor)
