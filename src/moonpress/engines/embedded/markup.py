"""Words and lines into HTML.

Owns joining lines (hyphens, spaces, CJK) and escaping. Never decides what a block is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

# Scripts written without spaces between words: Han, kana, bopomofo and their punctuation.
_UNSPACED = re.compile(
    r"[\u3001-\u30ff\u3100-\u312f\u3400-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]"
)
_SOFT_HYPHEN = "\u00ad"
_BROKEN_WORD = re.compile(r"[^\W\d_][-\u2010\u00ac]$")
_BROKEN_RANGE = re.compile(r"\d[-\u2010\u2013]$")


def join_lines(texts: Iterable[str]) -> str:
    """Join the lines of a paragraph into running text.

    A hyphen at the end of a line is taken out when the next line goes on in lower case and the
    word before the hyphen has none itself; only a dictionary could tell ``well-known`` there. No
    space is put between lines of scripts that have none.
    """
    result = ""
    for text in (t.strip() for t in texts):
        if text:
            result = _join(result, text)
    return result


def _join(before: str, after: str) -> str:
    if not before:
        return after
    if before.endswith(_SOFT_HYPHEN) or _splits_word(before, after):
        return before[:-1] + after
    return f"{before}{after}" if _tight(before, after) else f"{before} {after}"


def _splits_word(before: str, after: str) -> bool:
    """Whether the hyphen at the end of ``before`` is there for the line break only."""
    if not _BROKEN_WORD.search(before[-2:]) or not after[0].islower():
        return False
    word = before.rsplit(None, 1)[-1]
    return "-" not in word[:-1] and "/" not in word


def _tight(before: str, after: str) -> bool:
    """Whether no space belongs between two lines."""
    if _BROKEN_WORD.search(before[-2:]) or _BROKEN_RANGE.search(before[-2:]):
        return after[0].isalnum()
    return bool(_UNSPACED.match(before[-1]) and _UNSPACED.match(after[0]))


def element(tag: str, text: str) -> str:
    """``text`` escaped inside ``<tag>``."""
    return f"<{tag}>{escape(text, quote=False)}</{tag}>"
