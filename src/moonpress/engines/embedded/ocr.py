"""Reading a picture of a page with the built-in recogniser, PP-OCRv6.

Owns the way from pixels to lines. Never turns the page, never corrects text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moonpress.document import TextOrigin
from moonpress.engines.embedded.detection import Detector, TextBox
from moonpress.engines.embedded.recognition import LineReader, Reading, cut_line
from moonpress.engines.embedded.types import Box, Line, Word

Pixels = npt.NDArray[np.uint8]

_SIDE = 1280
_LARGE_SIDE = 1920
_MANY = 30  # boxes from which their median height says something
_TINY = 11.0  # height in the detector's pixels below which lines run into each other
_LEAST_HEIGHT = 5.0  # pixels; less cannot be read
_MIN_CONFIDENCE = 0.4
_SURE = 0.85
_COLUMN_GAP = 2.5  # letter sizes of white that end a line


class Recogniser:
    """Detector and recogniser, loaded on first need and kept.

    Args:
        fast: Use the tiny networks instead of the small ones.
        threads: Threads a network may use.
    """

    def __init__(self, *, fast: bool, threads: int) -> None:
        models = Path(str(files("moonpress.engines.embedded.models")))
        size = "tiny" if fast else "small"
        detector, reader = models / f"ppocrv6_{size}_det.onnx", models / f"ppocrv6_{size}_rec.onnx"
        # The small reader names its letters itself.
        letters = models / "ppocrv6_tiny_dict.txt" if fast else None
        self._detector = Detector(detector, threads)
        self._reader = LineReader(reader, letters, threads)

    def find(self, pixels: Pixels) -> list[TextBox]:
        """Where lines stand in ``pixels``, (H, W, 3) uint8 RGB."""
        boxes = self._detector.find(pixels, _SIDE)
        shrunk = _SIDE / max(pixels.shape[:2])
        if shrunk < 0.8 and len(boxes) >= _MANY:
            heights = [min(b.size) * shrunk for b in boxes]
            if float(np.median(heights)) < _TINY:
                return self._detector.find(pixels, _LARGE_SIDE)
        return boxes

    def read(self, pixels: Pixels) -> tuple[Line, ...]:
        """All lines in ``pixels``, (H, W, 3) uint8 RGB, in no particular order."""
        return self.read_boxes(pixels, self.find(pixels))

    def read_boxes(self, pixels: Pixels, boxes: Sequence[TextBox]) -> tuple[Line, ...]:
        """What stands in ``boxes`` of ``pixels``."""
        found = [b for b in boxes if min(b.size) >= _LEAST_HEIGHT]
        crops = [cut_line(pixels, b.corners) for b in found]
        readings = self._reader.read(crops)
        return tuple(
            line
            for box, crop, reading in zip(found, crops, readings, strict=True)
            if reading.text.strip() and reading.confidence >= _MIN_CONFIDENCE
            for line in lines_of(box, self._right_way(box, crop, reading))
        )

    def confidence(self, crops: Sequence[Pixels]) -> float:
        """Mean confidence with which a few pictures of lines are read."""
        readings = self._reader.read_quickly(crops)
        return sum(r.confidence for r in readings) / max(len(readings), 1)

    def texts(self, crops: Sequence[Pixels]) -> list[Reading]:
        """What stands in a few pictures of lines."""
        return self._reader.read_quickly(crops)

    def _right_way(self, box: TextBox, crop: Pixels, reading: Reading) -> Reading:
        """Text that runs down a margin was laid on its side the wrong way."""
        across, down = box.size
        if down <= 1.5 * across or reading.confidence > _SURE:
            return reading
        over = self._reader.read_quickly([np.ascontiguousarray(crop[::-1, ::-1])])[0]
        return over if over.confidence > reading.confidence else reading


def lines_of(found: TextBox, reading: Reading) -> list[Line]:
    """The line that was found, or several where it runs across the white between two columns."""
    left, top = found.corners.min(axis=0).tolist()
    right, bottom = found.corners.max(axis=0).tolist()
    box = Box(left, top, right, bottom)
    size = min(box.width, box.height) * 0.72
    words = _words(box, reading)
    pieces = [[words[0]]]
    for before, word in pairwise(words):
        if word.box.x0 - before.box.x1 > _COLUMN_GAP * size:
            pieces.append([])
        pieces[-1].append(word)
    return [
        Line(
            box=Box(piece[0].box.x0, box.y0, piece[-1].box.x1, box.y1),
            text=" ".join(word.text for word in piece),
            confidence=reading.confidence,
            origin=TextOrigin.OCR,
            size=size,
            words=tuple(piece),
        )
        for piece in pieces
    ]


def _words(box: Box, reading: Reading) -> list[Word]:
    """Words with estimated boxes: from the places of their first and last characters."""
    text = reading.text
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if box.height > 1.5 * box.width:
        return [Word(box, text[start:end]) for start, end in spans]
    centres = np.array(reading.centres)
    steps = [b - a for start, end in spans for a, b in pairwise(reading.centres[start:end])]
    half = 0.6 * float(np.median(steps)) if steps else 0.3 * box.height / max(box.width, 1.0)
    starts = [float(centres[start]) - half for start, _ in spans]
    ends = [float(centres[end - 1]) + half for _, end in spans]
    for place, (_, end) in enumerate(spans[:-1]):
        # Words do not overlap, however wide their last letters are.
        middle = float(centres[end - 1] + centres[spans[place + 1][0]]) / 2
        ends[place] = min(ends[place], middle)
        starts[place + 1] = max(starts[place + 1], middle)
    starts[0], ends[-1] = 0.0, 1.0
    return [
        Word(
            Box(box.x0 + left * box.width, box.y0, box.x0 + right * box.width, box.y1),
            text[start:end],
        )
        for left, right, (start, end) in zip(starts, ends, spans, strict=True)
    ]
