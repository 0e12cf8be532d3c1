"""Markdown cut into pieces that can stand alone.

Owns where Markdown may be cut: between items, lines and sentences, never inside a formula, a link
or marked words, and never in tables, code and displayed formulas. Never decides how large a piece
is to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpress.outputs.token_estimate import estimate_tokens

_WHOLE: Final = ("|", "<table", "```", "$$", "\\[", "![")
# A piece ends where one of these does.
_ITEM: Final = re.compile(r"\n+(?=(?:- |\d{1,9}\. ))")
_LINE: Final = re.compile(r"  \n")
_CLOSING: Final = r"[*_\"'\u201d\u2019\u00bb)\]]*"
_SENTENCE: Final = re.compile(
    rf"[.!?;]{_CLOSING}\s+(?=\S)|[\u3002\uff01\uff1f\uff1b][\u201d\u2019\u300d\u300f\uff09]*"
)
# Marks that come in pairs; a cut between the two of a pair would leave both pieces broken.
_PAIRS: Final = (("[", "]"), ("(", ")"), ("\\(", "\\)"), ("<", ">"))
_TOGGLES: Final = ("$", "**", "`")
_ESCAPED: Final = re.compile(r"\\[$*`\[\]<>]")


def split_markdown(block: str, limit: int) -> list[str]:
    """One block of Markdown as pieces of at most ``limit`` tokens, as far as it can be cut.

    What cannot be cut without breaking it stays whole, however large. Nothing is lost but the white
    space at the cuts.
    """
    if estimate_tokens(block) <= limit or block.startswith(_WHOLE):
        return [block]
    pieces = [block]
    for cut in (_ITEM, _LINE, _SENTENCE):
        pieces = [part for piece in pieces for part in _parts(piece, cut, limit)]
    return [piece.strip() for piece in pieces]


def _parts(piece: str, cut: re.Pattern[str], limit: int) -> Iterator[str]:
    """``piece`` in parts as large as ``limit`` lets them be."""
    if estimate_tokens(piece) <= limit:
        yield piece
        return
    part, size = "", 0
    for bit in _balanced(piece, cut):
        tokens = estimate_tokens(bit)
        if part and size + tokens > limit:
            yield part
            part, size = "", 0
        part += bit
        size += tokens
    yield part


def _balanced(text: str, cut: re.Pattern[str]) -> Iterator[str]:
    """``text`` cut behind what matches ``cut``, where no mark is open."""
    start = 0
    for place in cut.finditer(text):
        if place.end() < len(text) and _is_closed(text[start : place.end()]):
            yield text[start : place.end()]
            start = place.end()
    yield text[start:]


def _is_closed(text: str) -> bool:
    plain = _ESCAPED.sub("", text)
    return all(plain.count(mark) % 2 == 0 for mark in _TOGGLES) and all(
        plain.count(opening) <= plain.count(closing) for opening, closing in _PAIRS
    )
