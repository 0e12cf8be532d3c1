"""Whether a doubtful text layer says what the page shows.

Owns the comparison of some lines with a quick OCR, which takes a reader function: it never reads
pixels itself. What the layer tells by itself is judged in `moonpress.engines.text_trust`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Line
from moonpress.engines.text_trust import Judgement

_COMPARED = 4
_LONG = 8  # characters of a line that is worth comparing
_AGREES = 0.85  # similarity from which an OCR layer is kept
_VISIBLE_AGREES = 0.6  # the same for drawn text, whose fonts may defeat the recogniser
_SURE = 0.75  # a less confident reading proves nothing
_LEGIBLE = 0.9  # confidence from which a page is read at least as well as an old OCR layer

_READABLE = re.compile(r"[0-9A-Za-zÀ-ɏ\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What comparing a layer with the pixels showed.

    Attributes:
        agrees: The layer says what the page shows, or nobody can tell.
        legible: Most of the page is in a script that the recogniser reads, and it read surely.
    """

    agrees: bool
    legible: bool = False


def compare(
    lines: Sequence[Line], judgement: Judgement, read: Callable[[Sequence[Line]], list[Reading]]
) -> Comparison:
    """Compare a few lines of a doubtful layer with what the pixels say.

    Args:
        lines: The layer's lines.
        judgement: Why it is doubtful.
        read: Reads the places of some lines in the picture.
    """
    long = [line for line in lines if len(line.text) >= _LONG]
    fit = [line for line in long if _fit(line)]
    chosen = _spread(fit)
    if not chosen:
        # Nothing that the recogniser could read any better.
        return Comparison(agrees=True)
    readings = read(chosen)
    confidence = sum(reading.confidence for reading in readings) / len(readings)
    legible = confidence >= _LEGIBLE and 2 * len(fit) > len(long)
    scores = [
        _similarity(line.text, reading.text)
        for line, reading in zip(chosen, readings, strict=True)
        if judgement.hidden or reading.confidence >= _SURE
    ]
    if not scores:
        return Comparison(agrees=True)
    least = _AGREES if judgement.hidden else _VISIBLE_AGREES
    return Comparison(sum(scores) / len(scores) >= least, legible)


def _fit(line: Line) -> bool:
    """Whether the recogniser can read a line: it lies, and its script is known."""
    letters = len(line.text.replace(" ", ""))
    return line.box.width > line.box.height and 2 * len(_READABLE.findall(line.text)) > letters


def _spread(lines: Sequence[Line]) -> list[Line]:
    """A few of ``lines`` from all over the page."""
    ordered = sorted(lines, key=lambda line: line.box.y0)
    step = max(1, len(ordered) // _COMPARED)
    return ordered[step // 2 :: step][:_COMPARED]


def _similarity(one: str, other: str) -> float:
    def plain(text: str) -> str:
        return "".join(c for c in text.casefold() if c.isalnum())

    return SequenceMatcher(None, plain(one), plain(other), autojunk=False).ratio()
