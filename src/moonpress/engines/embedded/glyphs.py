"""Characters of a text layer made ready for line building.

Owns the cleaning of single characters: normal forms, duplicates, accents drawn apart, sizes that
the font lies about, and the baseline each character stands on. Never decides what a word or line
is.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from moonpress.document import TextLayer
from moonpress.engines.text_trust import SYMBOLS

Floats = npt.NDArray[np.float32]

# pdfium marks a hyphen at the end of a line by one of the first two.
_HYPHENS = {"\x02": "-", "\ufffe": "-", "\u00ad": "-"}
_TOP = frozenset("\"'`^°*‘’“”ª‹›′″™®´¨ˆ˜¯")
_MIDDLE = frozenset("-–—‒−=+~·•‣◦▪«»<>×÷±→←⋅∼≈≤≥:")
_HANGING = frozenset("gjpqyQ,;()[]{}|/\\_$@§¶ƒµçşţŋýÿ∫„‚‖⟨⟩")
_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "^": "\u0302", "˜": "\u0303",
    "~": "\u0303", "¯": "\u0304", "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a", "¸": "\u0327",
    "˝": "\u030b", "˙": "\u0307",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """Visible characters in content order, pixels, one direction of writing.

    Attributes:
        texts: N strings; mostly one character, more for ligatures.
        boxes: (N, 4) pixels.
        sizes: (N,) letter size in pixels.
        bases: (N,) estimated y of the baseline.
        spaced: (N,) bool: the text layer has a space before it.
        fonts: (N,) index of the font, -1 where unknown.
        leftward: (N,) bool: belongs to a script written from right to left.
    """

    texts: list[str]
    boxes: Floats
    sizes: Floats
    bases: Floats
    spaced: npt.NDArray[np.bool_]
    fonts: npt.NDArray[np.int16]
    leftward: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a code point is, for geometry."""

    text: str
    blank: bool
    slot: int  # 0 on the baseline, 1 hangs below, 2 in the middle, 3 at the top, 4 square
    leftward: bool
    sized: bool


def _kind(char: str) -> _Kind:
    text = _HYPHENS.get(char) or SYMBOLS.get(char) or char
    code = ord(text)
    if 0xFB00 <= code <= 0xFDFF or 0xFE70 <= code <= 0xFEFC:
        text = unicodedata.normalize("NFKC", text).strip()
    blank = not text or text.isspace() or unicodedata.category(text[0]) in {"Cc", "Cf", "Cn", "Zs"}
    plain = unicodedata.normalize("NFKD", text or " ")[0]
    if plain in _HANGING:
        slot = 1
    elif plain in _MIDDLE:
        slot = 2
    elif text in _TOP:
        slot = 3
    elif ord(plain) >= 0x0590 and not 0x1E00 <= ord(plain) <= 0x20CF:
        slot = 4
    else:
        slot = 0
    leftward = unicodedata.bidirectional(text[0] if text else " ") in {"R", "AL"}
    return _Kind(text, blank, slot, leftward, plain.isalnum())


def glyphs_of(layer: TextLayer, chosen: npt.NDArray[np.intp], boxes: Floats, dpi: float) -> Glyphs:
    """Clean the characters ``chosen`` of ``layer``.

    Args:
        layer: The whole text layer.
        chosen: Indices of its characters, ascending.
        boxes: (len(chosen), 4) their boxes in pixels, turned so that they read left to right.
        dpi: Pixels per inch of those boxes.
    """
    text = layer.text
    kinds = {char: _kind(char) for char in set(text)}
    each = [kinds[text[i]] for i in chosen]
    blank = np.fromiter((k.blank for k in each), dtype=bool, count=len(each))
    empty = (boxes[:, 2] <= boxes[:, 0]) & (boxes[:, 3] <= boxes[:, 1])
    shown = ~blank & ~empty
    spaced = _space_before(blank, shown)
    keep = np.flatnonzero(shown)
    kept = [each[i] for i in keep]
    slots = np.fromiter((k.slot for k in kept), dtype=np.int8, count=len(kept))
    sized = np.fromiter((k.sized for k in kept), dtype=bool, count=len(kept))
    fonts = layer.font_ids[chosen[keep]]
    accents = np.fromiter((k.text in _ACCENTS for k in kept), dtype=bool, count=len(kept))
    box = _part_ligatures(boxes[keep], accents)
    sizes = _honest_sizes(layer.sizes[chosen[keep]] * (dpi / 72), box, fonts, sized)
    glyphs = Glyphs(
        texts=[k.text for k in kept],
        boxes=box,
        sizes=sizes,
        bases=_baselines(box, sizes, slots, sized),
        spaced=spaced[keep],
        fonts=fonts,
        leftward=np.fromiter((k.leftward for k in kept), dtype=bool, count=len(kept)),
    )
    return _join_accents(_without_doubles(glyphs))


def _space_before(
    blank: npt.NDArray[np.bool_], shown: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether a blank stands between each character and the shown one before it."""
    blanks = np.cumsum(blank)
    result = np.zeros(len(blank), dtype=bool)
    index = np.flatnonzero(shown)
    if len(index):
        counts = blanks[index]
        result[index] = np.diff(counts, prepend=counts[:1] - 1) > 0
    return result


def _part_ligatures(boxes: Floats, accents: npt.NDArray[np.bool_]) -> Floats:
    """Share out the box of a ligature, which pdfium gives whole to each of its letters."""
    same = (np.diff(boxes, axis=0) == 0).all(axis=1) & ~accents[1:] & ~accents[:-1]
    if not same.any():
        return boxes
    result = boxes.copy()
    starts = np.concatenate([[0], np.flatnonzero(~same) + 1])
    lengths = np.diff(np.append(starts, len(boxes)))
    place = np.arange(len(boxes)) - np.repeat(starts, lengths)
    width = (boxes[:, 2] - boxes[:, 0]) / np.repeat(lengths, lengths)
    result[:, 0] = boxes[:, 0] + place * width
    result[:, 2] = result[:, 0] + width
    return result


def _honest_sizes(
    sizes: Floats, boxes: Floats, fonts: npt.NDArray[np.int16], sized: npt.NDArray[np.bool_]
) -> Floats:
    """Replace the sizes of fonts whose letters are not nearly as high as their size says.

    Type 3 fonts and producers that scale by the text matrix give sizes such as 1.
    """
    heights = boxes[:, 3] - boxes[:, 1]
    result = sizes.astype(np.float32)
    for font in np.unique(fonts):
        mine = fonts == font
        letters = mine & sized
        if not letters.any():
            letters = mine
        ratio = float(np.median(heights[letters] / np.maximum(result[letters], 0.01)))
        if not 0.3 < ratio < 1.3:
            high = float(np.median(heights[letters])) / 0.6
            result[mine] = np.clip(result[mine] * (ratio / 0.6), high * 0.4, high * 2.5)
    return np.maximum(result, 2.0).astype(np.float32)


def _baselines(
    boxes: Floats, sizes: Floats, slots: npt.NDArray[np.int8], sized: npt.NDArray[np.bool_]
) -> Floats:
    """Where each character stands, from its tight box and its shape."""
    top, bottom = boxes[:, 1], boxes[:, 3]
    middle = (top + bottom) / 2
    tight = np.choose(
        slots,
        [
            bottom,
            bottom - 0.21 * sizes,
            middle + 0.28 * sizes,
            top + 0.72 * sizes,
            middle + 0.38 * sizes,
        ],
    )
    letters = sized & (slots == 0)
    heights = (bottom - top) / sizes
    if letters.sum() < 4 or np.median(heights[letters]) < 0.85:
        return tight.astype(np.float32)
    # Loose boxes reach from the font's ascent to its descent, whatever the letter.
    return np.where(heights > 0.8, bottom - 0.22 * sizes, tight).astype(np.float32)


def _select(glyphs: Glyphs, keep: npt.NDArray[np.intp]) -> Glyphs:
    return Glyphs(
        texts=[glyphs.texts[i] for i in keep],
        boxes=glyphs.boxes[keep],
        sizes=glyphs.sizes[keep],
        bases=glyphs.bases[keep],
        spaced=glyphs.spaced[keep],
        fonts=glyphs.fonts[keep],
        leftward=glyphs.leftward[keep],
    )


def _without_doubles(glyphs: Glyphs) -> Glyphs:
    """Drop characters drawn twice in one place, the poor man's bold and shadow."""
    count = len(glyphs.texts)
    if count < 2:
        return glyphs
    step = np.maximum(glyphs.sizes * 0.25, 1.0)
    centres = (glyphs.boxes[:, :2] + glyphs.boxes[:, 2:]) / 2
    codes = np.fromiter((hash(t) & 0xFFFFFF for t in glyphs.texts), np.int64, count)
    # Neighbours after sorting by letter and row are the only ones that can coincide.
    order = np.lexsort((centres[:, 0], np.round(centres[:, 1] / step), codes))
    near = np.abs(np.diff(centres[order], axis=0)) < (step * 0.6)[order[1:], None]
    double = near.all(axis=1) & (np.diff(codes[order]) == 0)
    if not double.any():
        return glyphs
    later = np.maximum(order[1:], order[:-1])[double]
    keep = np.setdiff1d(np.arange(count), later)
    return _select(glyphs, keep)


def _join_accents(glyphs: Glyphs) -> Glyphs:
    """Put accents that old TeX fonts draw as characters of their own onto their letters."""
    drop: list[int] = []
    texts = glyphs.texts
    for i, text in enumerate(texts):
        mark = _ACCENTS.get(text)
        if mark is None:
            continue
        beside = [j for j in (i + 1, i - 1) if 0 <= j < len(texts)]
        for j in [*beside, *_under(glyphs, i)]:
            if texts[j].isalpha() and _over(glyphs.boxes[i], glyphs.boxes[j]):
                letter = {"ı": "i", "ȷ": "j"}.get(texts[j], texts[j])
                whole = unicodedata.normalize("NFC", letter + mark)
                if len(whole) == 1:
                    texts[j] = whole
                    drop.append(i)
                    break
    if not drop:
        return glyphs
    spaced = glyphs.spaced.copy()
    for i in drop:
        if i + 1 < len(spaced):
            spaced[i + 1] = spaced[i]
    changed = Glyphs(
        texts, glyphs.boxes, glyphs.sizes, glyphs.bases, spaced, glyphs.fonts, glyphs.leftward
    )
    return _select(changed, np.setdiff1d(np.arange(len(texts)), drop))


def _under(glyphs: Glyphs, accent: int) -> list[int]:
    """Indices of what stands in an accent's place; files may draw accents after all letters."""
    boxes, size = glyphs.boxes, float(glyphs.sizes[accent])
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    near = np.abs(middle - middle[accent]) < np.array([0.4 * size, 0.6 * size])
    near[accent] = False
    found = np.flatnonzero(near.all(axis=1))
    nearest = np.argsort(np.abs(middle[found, 0] - middle[accent, 0]))
    return [int(j) for j in found[nearest]]


def _over(accent: Floats, letter: Floats) -> bool:
    shared = min(accent[2], letter[2]) - max(accent[0], letter[0])
    return bool(shared > 0.6 * (accent[2] - accent[0]))
