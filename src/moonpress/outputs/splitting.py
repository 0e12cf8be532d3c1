"""Markdown cut into pieces that can stand alone.

Owns where Markdown may be cut: between items, lines and sentences, never inside a formula, a link
or marked words, and never in tables, code and displayed formulas. Never decides how large a piece
is to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonpress.outputs.token_estimate import estimate_tokens

_WHOLE: Final = ("|", "<table", "```", "$$", "\\[", "![")
_ITEM: Final = re.compile(r"\n+(?=(?:- |\d{1,9}\. ))")
_LINE: Final = re.compile(r"(?<=  )\n")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=\S)|(?<=[\u3002\uff01\uff1f\uff1b])")
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
    return pieces


def _parts(piece: str, cut: re.Pattern[str], limit: int) -> Iterator[str]:
    if estimate_tokens(piece) <= limit:
        yield piece
        return
    joint = "\n" if cut is _ITEM else " "
    yield from packed([p.strip("\n ") for p in _balanced(piece, cut)], limit, joint.join)


def packed(pieces: list[str], limit: int, join: Callable[[list[str]], str]) -> Iterator[str]:
    """Neighbours joined as long as they keep within ``limit`` tokens."""
    group: list[str] = []
    size = 0
    for piece in pieces:
        tokens = estimate_tokens(piece)
        if group and size + tokens > limit:
            yield join(group)
            group, size = [], 0
        group.append(piece)
        size += tokens
    if group:
        yield join(group)


def _balanced(text: str, cut: re.Pattern[str]) -> Iterator[str]:
    """``text`` cut at ``cut``, where what comes before leaves no mark open."""
    start = 0
    for place in cut.finditer(text):
        before = text[start : place.start()]
        if before.strip() and _is_closed(before):
            yield before
            start = place.end()
    yield text[start:]


def _is_closed(text: str) -> bool:
    plain = _ESCAPED.sub("", text)
    return all(plain.count(mark) % 2 == 0 for mark in _TOGGLES) and all(
        plain.count(opening) <= plain.count(closing) for opening, closing in _PAIRS
    )
