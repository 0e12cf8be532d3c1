"""Where two readings of one page say different things.

Owns comparing words and marking them. A formula counts as one word, and markup as none. Never reads
a page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import unescape
from typing import Final

_PARTS: Final = re.compile(r"(<math\b.*?</math>|<[^>]*>)", re.DOTALL)
_WORDS: Final = re.compile(r"(\s+)")
_TAGS: Final = re.compile(r"<[^>]*>")
# Beyond this many words, common ones no longer anchor the comparison: it would take minutes.
_EXACT_WORDS: Final = 4000


@dataclass(frozen=True, slots=True)
class Differences:
    """Two readings with what differs marked.

    Attributes:
        left: HTML; what only it has stands in ``mark`` elements.
        right: Likewise.
        same: Words that both have in the same order.
        only_left: Words that the left has alone.
        only_right: Words that the right has alone.
    """

    left: str
    right: str
    same: int
    only_left: int
    only_right: int


def differences(left: str, right: str) -> Differences:
    """Compare two pieces of HTML that our HTML output made."""
    left_parts, right_parts = _parts(left), _parts(right)
    left_words = [part.word for part in left_parts if part.word]
    right_words = [part.word for part in right_parts if part.word]
    hasty = max(len(left_words), len(right_words)) > _EXACT_WORDS
    matcher = SequenceMatcher(None, left_words, right_words, autojunk=hasty)
    lone_left, lone_right, same = set(range(len(left_words))), set(range(len(right_words))), 0
    for block in matcher.get_matching_blocks():
        lone_left.difference_update(range(block.a, block.a + block.size))
        lone_right.difference_update(range(block.b, block.b + block.size))
        same += block.size
    return Differences(
        _marked(left_parts, lone_left),
        _marked(right_parts, lone_right),
        same,
        len(lone_left),
        len(lone_right),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of HTML, and the word in it, if it is one."""

    html: str
    word: str = ""


def _parts(html: str) -> list[_Part]:
    parts: list[_Part] = []
    for piece in _PARTS.split(html):
        if piece.startswith("<math"):
            parts.append(_Part(piece, "".join(_TAGS.sub("", piece).split()) or "formula"))
        elif piece.startswith("<"):
            parts.append(_Part(piece))
        else:
            parts += [_Part(text, _word(text)) for text in _WORDS.split(piece) if text]
    return parts


def _word(text: str) -> str:
    return unescape(text).strip()


def _marked(parts: list[_Part], lone: set[int]) -> str:
    """The pieces put together, neighbouring lone words under one mark."""
    out: list[str] = []
    index = -1
    for part in parts:
        if not part.word:
            out.append(part.html)
            continue
        index += 1
        if index not in lone:
            out.append(part.html)
        elif len(out) > 1 and out[-1].isspace() and out[-2].endswith("</mark>"):
            space = out.pop()
            out[-1] = f"{out[-1].removesuffix('</mark>')}{space}{part.html}</mark>"
        else:
            out.append(f"<mark>{part.html}</mark>")
    return "".join(out)
