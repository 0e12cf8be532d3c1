"""Large first letters of scanned paragraphs, which detectors of lines pass over.

Owns looking where rows make room for one. Never puts it into its word; see `dropcaps`. It takes a
reader function.

Room is where a few rows begin further in than the row below them, and nothing else stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from moonpress.document import TextOrigin
from moonpress.engines.embedded.drafts import around, shared_width
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Box, Line, Word

Pixels = npt.NDArray[np.uint8]

_MOST_ROWS = 6
_MOST = 6  # rooms of a page that are looked into
# In line heights.
_LEAST_ROOM, _MOST_ROOM = 0.8, 7.0
_RAGGED = 0.6  # how far the rows beside a letter may begin from each other
_TALL = 1.1
_INK = 90  # contrast of 255
_MARGIN = 0.15  # white around the letter when it is read, in its heights
_SURE = 0.7


def find_initials(
    pixels: Pixels, lines: Sequence[Line], read: Callable[[Sequence[Pixels]], list[Reading]]
) -> tuple[Line, ...]:
    """Lines of one large letter each.

    Args:
        pixels: (H, W, 3) uint8 RGB, upright.
        lines: What was read.
        read: Reads pictures of lines.
    """
    rows = sorted((x for x in lines if len(x.text) > 5), key=lambda x: x.box.y0)
    boxes = np.array([x.box for x in rows], dtype=np.float64).reshape(-1, 4)
    rooms = [room for k in range(len(rows)) if (room := _room(k, rows, boxes)) is not None]
    letters = [
        letter for room in rooms[:_MOST] if (letter := _letter(pixels, room, lines)) is not None
    ]
    crops = [_crop(pixels, box) for box in letters]
    return tuple(
        _line(box, reading)
        for box, reading in zip(letters, read(crops) if crops else [], strict=True)
        if reading.confidence >= _SURE and _is_capital(reading.text.strip())
    )


def _line(box: Box, reading: Reading) -> Line:
    text = reading.text.strip()
    words = (Word(box, text),)
    return Line(box, text, reading.confidence, TextOrigin.OCR, box.height, words=words)


def _is_capital(text: str) -> bool:
    return len(text) == 1 and text.isalpha() and text.isupper()


def _room(k: int, rows: Sequence[Line], boxes: npt.NDArray[np.float64]) -> Box | None:
    """White left of row ``k`` and those above it, when the row below begins further out."""
    low = rows[k].box
    height = low.height
    below = _next(low, boxes, down=True)
    if (
        below is None
        or not _LEAST_ROOM * height < low.x0 - rows[below].box.x0 < _MOST_ROOM * height
    ):
        return None
    beside = [low]
    while len(beside) <= _MOST_ROWS:
        above = _next(beside[-1], boxes, down=False)
        if above is None or abs(rows[above].box.x0 - low.x0) > _RAGGED * height:
            break
        beside.append(rows[above].box)
    if not 2 <= len(beside) <= _MOST_ROWS:
        return None
    left = rows[below].box.x0
    return Box(left - 0.3 * height, beside[-1].y0 - 0.3 * height, low.x0, low.y1)


def _next(box: Box, boxes: npt.NDArray[np.float64], *, down: bool) -> int | None:
    """The nearest row of the same column, right below or above."""
    gaps = boxes[:, 1] - box.y1 if down else box.y0 - boxes[:, 3]
    near = np.flatnonzero((gaps > -0.6 * box.height) & (gaps < 0.8 * box.height))
    own = [
        i
        for i in near.tolist()
        if bool(boxes[i, 1] > box.y0 + 0.4 * box.height) is down
        and tuple(boxes[i]) != tuple(box)
        and shared_width(box, Box(*boxes[i])) > 0.5 * box.width
    ]
    return min(own, key=lambda i: float(gaps[i]), default=None)


def _letter(pixels: Pixels, room: Box, lines: Sequence[Line]) -> Box | None:
    """The one tall piece of ink in a room that no line has."""
    import cv2

    if any(line.box.overlap(room) > 0.3 * line.box.area for line in lines):
        return None
    x0, y0 = max(int(room.x0), 0), max(int(room.y0), 0)
    part = pixels[y0 : int(room.y1) + 1, x0 : int(room.x1) + 1]
    if min(part.shape[:2]) < 8:
        return None
    grey = part.max(axis=2).astype(np.int16)
    ink = ((int(grey.max()) - grey) > _INK).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    rows = max(1.0, room.height)
    tall = [s for s in stats[1:count].tolist() if s[3] > 0.55 * rows and s[2] < 1.6 * s[3]]
    if not tall:
        return None
    found = around(Box(x0 + x, y0 + y, x0 + x + w, y0 + y + h) for x, y, w, h, _ in tall)
    return found if found.height < 1.2 * rows else None


def _crop(pixels: Pixels, box: Box) -> Pixels:
    more = int(_MARGIN * box.height)
    y0, x0 = max(int(box.y0) - more, 0), max(int(box.x0) - more, 0)
    return np.ascontiguousarray(pixels[y0 : int(box.y1) + more, x0 : int(box.x1) + more])
