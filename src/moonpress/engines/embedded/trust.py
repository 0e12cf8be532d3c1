"""Whether the text layer of a page says what the page shows.

Owns the judgement. Never reads pixels itself: comparing lines with a quick OCR takes a reader
function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

import numpy as np
import numpy.typing as npt

from moonpress.document import TextLayer
from moonpress.engines.embedded.glyphs import SYMBOLS
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Line

_BAD = 0.25  # share of meaningless characters from which a layer is useless
_SOME_BAD = 0.03  # share from which it is looked at more closely
_PILED = 0.2  # share of characters on top of another one
_STRANGE = 0.3  # share of long Latin words without a vowel
_COVERS = 0.6  # share of the page from which a picture is the page
_COMPARED = 4
_AGREES = 0.85  # similarity from which an OCR layer is kept
_VISIBLE_AGREES = 0.6  # the same for drawn text, whose fonts may defeat the recogniser
_SURE = 0.75  # a less confident reading proves nothing

_WORD = re.compile(r"[^\W\d_]{4,}")
_VOWEL = re.compile(r"[aeiouyà-æè-ïò-öø-ýāăąēĕėęěīĭįıōŏőœūŭůűų]", re.IGNORECASE)
_READABLE = re.compile(r"[0-9A-Za-zÀ-ɏ\u3040-\u30ff\u4e00-\u9fff]")


class Trust(Enum):
    """What is thought of a text layer."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and, unless it is good, why.

    Attributes:
        trust: The verdict.
        reason: In words, to go on "the text layer ...".
        hidden: Most of it is invisible: the usual mark of OCR by someone else.
    """

    trust: Trust
    reason: str = ""
    hidden: bool = False


def judge(layer: TextLayer, picture_share: float) -> Judgement:
    """Judge a layer by itself.

    Args:
        layer: With at least one visible character.
        picture_share: Share of the page that its largest picture covers, 0 to 1.
    """
    codes = np.frombuffer(layer.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    shown = ~_blank(codes)
    count = max(int(shown.sum()), 1)
    bad = _meaningless(codes, shown) + 7 * layer.text.count("(cid:")
    if bad > _BAD * count:
        return Judgement(Trust.BAD, f"has no meaning for {bad} of {count} characters")
    hidden = bool(layer.invisible[shown].mean() > 0.5)
    if hidden or bad > max(_SOME_BAD * count, 2):
        reason = "is invisible" if hidden else f"has no meaning for {bad} of {count} characters"
        return Judgement(Trust.DOUBTFUL, reason, hidden)
    if _piled(layer, codes, shown) > _PILED:
        return Judgement(Trust.DOUBTFUL, "has characters on top of each other")
    words = _WORD.findall(layer.text)
    latin = [w for w in words if w[0] < "\u0250"]
    if len(latin) >= 20 and sum(not _VOWEL.search(w) for w in latin) > _STRANGE * len(latin):
        return Judgement(Trust.DOUBTFUL, "has words that are none")
    if picture_share > _COVERS and count > 40:
        return Judgement(Trust.DOUBTFUL, "lies on a picture of the page", hidden)
    return Judgement(Trust.GOOD)


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


def _blank(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    white = (codes <= 0x20) | (codes == 0xA0) | ((codes >= 0x2000) & (codes <= 0x200F))
    return np.asarray(white, dtype=np.bool_)


def _meaningless(codes: npt.NDArray[np.uint32], shown: npt.NDArray[np.bool_]) -> int:
    known = np.isin(codes, [ord(c) for c in SYMBOLS])
    private = ((codes >= 0xE000) & (codes <= 0xF8FF)) | (codes >= 0xF0000)
    unknown = (codes == 0xFFFD) | ((codes >= 0x80) & (codes < 0xA0))
    return int((shown & ~known & (private | unknown)).sum())


def _piled(layer: TextLayer, codes: npt.NDArray[np.uint32], shown: npt.NDArray[np.bool_]) -> float:
    """Share of characters that stand on the one before them, ligatures and accents apart."""
    index = np.flatnonzero(shown)
    if len(index) < 20:
        return 0.0
    boxes = layer.boxes[index]
    width = np.minimum(boxes[1:, 2] - boxes[1:, 0], boxes[:-1, 2] - boxes[:-1, 0])
    shared = np.minimum(boxes[1:, 2], boxes[:-1, 2]) - np.maximum(boxes[1:, 0], boxes[:-1, 0])
    level = np.abs(boxes[1:, 1] - boxes[:-1, 1]) < 0.2 * (boxes[1:, 3] - boxes[1:, 1])
    same = (boxes[1:] == boxes[:-1]).all(axis=1)
    other = codes[index[1:]] != codes[index[:-1]]
    return float(((shared > 0.6 * width) & level & ~same & other & (width > 0)).mean())
