"""Holes in lines of a good text layer filled from the picture.

Owns the filling of single characters that the file has no meaning for, such as ligatures and signs
of fonts without a map. Never changes a character that the file knows, and never reads pixels
itself: it takes a reader function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from moonpress.document import TextOrigin
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Line

HOLE = "\ufffd"

_SURE = 0.9  # confidence of a reading that is believed
_LONGEST = 3  # letters of the longest ligature
_ANCHOR = 2  # characters beside a hole, or all there are, that must be read alike
_MOST_HOLES = 0.2  # share of a line; formulas have more, and cannot be read


def fill_holes(
    lines: Sequence[Line], read: Callable[[Sequence[Line]], list[Reading]]
) -> tuple[Line, ...]:
    """The lines, with holes filled where the letters around them are read as the layer has them.

    Args:
        lines: Of a text layer; holes are U+FFFD.
        read: Reads the places of some lines in the picture.
    """
    torn = [
        k
        for k, line in enumerate(lines)
        if 0 < line.text.count(HOLE) < _MOST_HOLES * len(line.text)
        and line.box.width > line.box.height
    ]
    result = list(lines)
    for k, reading in zip(torn, read([lines[k] for k in torn]), strict=True):
        if reading.confidence >= _SURE:
            result[k] = _filled(lines[k], reading.text)
    return tuple(result)


def _filled(line: Line, seen: str) -> Line:
    fillings = list(_fillings(line.text, seen))
    text = _with(line.text, iter(fillings))
    if text == line.text:
        return line
    # A line's words have its holes in the same order.
    rest = iter(fillings)
    words = tuple(replace(word, text=_with(word.text, rest)) for word in line.words)
    return replace(line, text=text, words=words, origin=TextOrigin.MIXED)


def _with(text: str, fillings: Iterator[str]) -> str:
    return "".join(next(fillings, HOLE) if char == HOLE else char for char in text)


def _fillings(text: str, seen: str) -> Iterator[str]:
    """For each hole of ``text`` what ``seen`` has in its place, or the hole."""
    blocks = SequenceMatcher(None, text, seen, autojunk=False).get_matching_blocks()
    found: dict[int, str] = {}
    start = seen_start = before = 0
    for block in blocks:
        hole, filling = text[start : block.a], seen[seen_start : block.b]
        known = before >= min(_ANCHOR, start) and block.size >= min(_ANCHOR, len(text) - block.a)
        plain = 0 < len(filling) <= _LONGEST and " " not in filling
        if hole == HOLE and known and plain:
            found[start] = filling
        start, seen_start, before = block.a + block.size, block.b + block.size, block.size
    for place, char in enumerate(text):
        if char == HOLE:
            yield found.get(place, HOLE)
