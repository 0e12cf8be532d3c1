"""Whether a doubtful text layer says what the page shows.

Owns the comparison of some lines with a quick OCR, which takes a reader function: it never reads
pixels itself. What the layer tells by itself is judged in `moonpress.engines.text_trust`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Line
from moonpress.engines.text_trust import Judgement

_COMPARED = 4
_AGREES = 0.85  # similarity from which an OCR layer is kept
_VISIBLE_AGREES = 0.6  # the same for drawn text, whose fonts may defeat the recogniser
_SURE = 0.75  # a less confident reading proves nothing

_READABLE = re.compile(r"[0-9A-Za-zÀ-ɏ\u3040-\u30ff\u4e00-\u9fff]")


def agrees(
    lines: Sequence[Line], judgement: Judgement, read: Callable[[Sequence[Line]], list[Reading]]
) -> bool:
    """Compare a few lines of a doubtful layer with what the pixels say.

    Args:
        lines: The layer's lines.
        judgement: Why it is doubtful.
        read: Reads the places of some lines in the picture.
    """
    chosen = _sample(lines)
    if not chosen:
        # Nothing that the recogniser could read any better.
        return True
    scores = []
    for line, reading in zip(chosen, read(chosen), strict=True):
        if judgement.hidden or reading.confidence >= _SURE:
            scores.append(_similarity(line.text, reading.text))
    if not scores:
        return True
    return sum(scores) / len(scores) >= (_AGREES if judgement.hidden else _VISIBLE_AGREES)


def _sample(lines: Sequence[Line]) -> list[Line]:
    """Lines of ordinary length that the recogniser can read, spread over the page."""
    fit = [
        line
        for line in lines
        if line.box.width > line.box.height
        and len(line.text) >= 8
        and 2 * len(_READABLE.findall(line.text)) > len(line.text.replace(" ", ""))
    ]
    fit.sort(key=lambda line: line.box.y0)
    step = max(1, len(fit) // _COMPARED)
    return fit[step // 2 :: step][:_COMPARED]


def _similarity(one: str, other: str) -> float:
    def plain(text: str) -> str:
        return "".join(c for c in text.casefold() if c.isalnum())

    return SequenceMatcher(None, plain(one), plain(other), autojunk=False).ratio()
