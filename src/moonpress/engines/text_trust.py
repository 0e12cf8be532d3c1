"""Whether the text layer of a page can be trusted, as far as the layer itself tells.

Owns the judgement that costs next to nothing. Never looks at pixels: comparing a doubtful layer
with them is for engines that can read lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from moonpress.document import TextLayer

_BAD = 0.25  # share of meaningless characters from which a layer is useless
_SOME_BAD = 0.03  # share from which it is looked at more closely
_PILED = 0.2  # share of characters on top of another one
_STRANGE = 0.3  # share of long Latin words without a vowel
_COVERS = 0.6  # share of the page from which a picture is the page

_WORD = re.compile(r"[^\W\d_]{4,}")
_VOWEL = re.compile(r"[aeiouyà-æè-ïò-öø-ýāăąēĕėęěīĭįıōŏőœūŭůűų]", re.IGNORECASE)
# Symbol fonts put their bullets and arrows into the private use area; these have a known meaning.
SYMBOLS = {
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0a8": "◻",
    "\uf0d8": "➢",
    "\uf0fc": "✓",
    "\uf0e0": "→",
    "\uf0de": "⇒",
    "\uf02d": "-",
    # Adobe's old codes for figures that hang below the line, and for small capitals.
    **{chr(0xF730 + n): str(n) for n in range(10)},
    **{chr(0xF761 + n): chr(ord("A") + n) for n in range(26)},
}


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
