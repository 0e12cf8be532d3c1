"""Check boxes drawn beside words, as characters of their lines.

Owns finding small square frames by their pixels, and whether something is marked in them. Never
decides whether a page is a form.

A check box is a frame of the size of a letter that touches nothing else. It is looked for in white
before words: at the left of a line, and in gaps too wide for a word space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from moonpress.document import TextOrigin
from moonpress.engines.embedded.types import Box, Line, UprightPage, Word

EMPTY, MARKED = "\u2610", "\u2612"

_Mask = npt.NDArray[np.bool_]

# In letter sizes.
_REACH = 2.2  # how far before a word its box may stand
_WITHIN = 1.5  # how far into a line its box may reach: detectors take it into the line
_GAP = 1.0  # white between two words that has room for a box
_SMALLEST, _LARGEST = 0.5, 1.35

_FEWEST_PIXELS = 8  # side of a box whose inside can be told from its frame

_INK = 70  # contrast of 255 from which a pixel is drawn
_STROKE = 0.22  # share of a side within which its stroke runs
_DRAWN = 0.85  # share of each side that one straight row of pixels draws
_FILLED = 0.9  # share of the inside from which a square is a bullet
_MARK = 0.06  # share of the inside from which it is marked
# How a recogniser reads a box; these are no words of their own before others.
_MISREAD = frozenset("□■☐☑☒▢◻口回凶囗Oo0QDXxVv√✓[]|")

# Ideographs may be frames themselves.
_WORD = re.compile(r"[^\W\d_\u2e80-\u9fff]{2}")


def mark_boxes(page: UprightPage) -> UprightPage:
    """The page with a character for each check box in front of the word it stands before."""
    lines = tuple(_marked(page.pixels, line) for line in page.lines)
    return page if lines == page.lines else replace(page, lines=lines)


def _marked(pixels: npt.NDArray[np.uint8], line: Line) -> Line:
    words = line.words or (Word(line.box, line.text),)
    size = line.size or line.box.height
    if line.box.height > 2.5 * size or not _WORD.search(line.text):
        return line
    # Where letters stand is exact in a text layer; detectors take boxes into their lines.
    within = _WITHIN * size if line.origin is TextOrigin.OCR else 0.0
    result: list[Word] = []
    found = False
    for place, word in enumerate(words):
        start = word.box.x0
        before = words[place - 1].box.x1 if place else start - _REACH * size
        if start - before >= _GAP * size and (not place or _WORD.search(word.text)):
            end = start if place else start + within
            slot = Box(max(before, start - _REACH * size), line.box.y0, end, line.box.y1)
            box = _find(pixels, slot, size)
            if box is not None:
                found = True
                result.append(box)
                misread = len(words) > place + 1 and word.text in _MISREAD
                if misread and word.box.x0 < box.box.x1:
                    continue
        result.append(word)
    if not found:
        return line
    text = " ".join(word.text for word in result)
    whole = line.box.union(result[0].box)
    return replace(line, box=whole, text=text, words=tuple(result))


def _find(pixels: npt.NDArray[np.uint8], slot: Box, size: float) -> Word | None:
    """The check box in a part of the page."""
    import cv2

    more = 0.3 * size
    x0, y0 = max(int(slot.x0), 0), max(int(slot.y0 - more), 0)
    part = pixels[y0 : int(slot.y1 + more) + 1, x0 : int(slot.x1) + 1]
    if min(part.shape[:2]) < _SMALLEST * size:
        return None
    grey = part.min(axis=2)
    ink = (int(grey.max()) - grey.astype(np.int16)) > _INK
    if not ink.any():
        return None
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
    for left, top, wide, high, _ in stats[1:count].tolist():
        if not _SMALLEST * size <= min(wide, high) <= max(wide, high) <= _LARGEST * size:
            continue
        if abs(wide - high) > 0.15 * max(wide, high) + 1:
            continue
        # What reaches the rim of the part goes on beyond it: the ruling of a table, a picture.
        inner = min(left, top) > 0 and left + wide < ink.shape[1] and top + high < ink.shape[0]
        square = ink[top : top + high, left : left + wide]
        if inner and (marked := _mark_in(square)) is not None:
            place = Box(x0 + left, y0 + top, x0 + left + wide, y0 + top + high)
            return Word(place, MARKED if marked else EMPTY)
    return None


def _mark_in(square: _Mask) -> bool | None:
    """Whether a square frame is marked inside; ``None`` where it is no frame."""
    high, wide = square.shape
    if min(high, wide) < _FEWEST_PIXELS:
        return None
    deep = max(2, round(_STROKE * min(high, wide)))
    if any(side < _DRAWN for side in _sides(square, deep)):
        return None
    inside = float(square[deep : high - deep, deep : wide - deep].mean())
    return None if inside > _FILLED else inside > _MARK


def _sides(square: _Mask, deep: int) -> Iterator[float]:
    """How much of each side is drawn, and of each corner, which round letters lack."""
    for band in (square[:deep], square[-deep:], square[:, :deep].T, square[:, -deep:].T):
        yield float(band.mean(axis=1).max())
    corner = max(1, deep // 2)
    for rows in (slice(None, corner), slice(-corner, None)):
        for columns in (slice(None, corner), slice(-corner, None)):
            yield float(square[rows, columns].any())
