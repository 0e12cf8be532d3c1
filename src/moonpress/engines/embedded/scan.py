"""Reading a page that is nothing but a picture.

Owns the sequence: find lines, decide which way is up, straighten, read. Never uses a text layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.detection import TextBox
from moonpress.engines.embedded.ocr import Recogniser
from moonpress.engines.embedded.orientation import Orientation, move_boxes, skew_of, straighten
from moonpress.engines.embedded.recognition import cut_line
from moonpress.engines.embedded.turning import turn_pixels
from moonpress.engines.embedded.types import Line, Turn

Pixels = npt.NDArray[np.uint8]

_CERTAIN = 0.8  # likelihood from which the orientation network is believed
_READABLE = 0.85  # confidence that upright lines of a script we can read are at least read with
_BETTER = 0.08  # by how much a turned page must read better than the page as it is
_SAMPLE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """A page picture turned upright.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, upright.
        turn: How it was made from the page.
        lines: What was read, or nothing yet.
        boxes: Where lines stand.
    """

    pixels: Pixels
    turn: Turn
    boxes: tuple[TextBox, ...]
    lines: tuple[Line, ...] = ()


class ScanReader:
    """Reads pictures of pages.

    Args:
        recogniser: Finds and reads lines.
        threads: Threads a network may use.
    """

    def __init__(self, recogniser: Recogniser, threads: int) -> None:
        self._recogniser = recogniser
        self._orientation = Orientation(threads)

    def upright(self, pixels: Pixels) -> Scan:
        """Find lines and turn the page so that they can be read; nothing is read yet."""
        boxes = self._recogniser.find(pixels)
        quarter = self._quarter(pixels, boxes)
        if quarter:
            pixels = turn_pixels(pixels, quarter)
            boxes = self._recogniser.find(pixels)
        skew = skew_of(boxes)
        if not skew:
            return Scan(pixels, Turn(quarter), tuple(boxes))
        straight, turn, matrix = straighten(pixels, quarter, skew)
        return Scan(straight, turn, tuple(move_boxes(boxes, matrix)))

    def read(self, pixels: Pixels) -> Scan:
        """Turn the page upright and read it."""
        scan = self.upright(pixels)
        lines = self._recogniser.read_boxes(scan.pixels, scan.boxes)
        return Scan(scan.pixels, scan.turn, scan.boxes, lines)

    def _quarter(self, pixels: Pixels, boxes: Sequence[TextBox]) -> int:
        """Degrees clockwise by which the page must be turned to be upright.

        The network is right about nineteen times of twenty. Where it does not plainly say
        "upright", lines are read both ways: upright text reads better.
        """
        likely = self._orientation.likelihoods(pixels)
        long = sorted(boxes, key=lambda b: -max(b.size))[:_SAMPLE]
        if len(long) < 2:
            best = int(likely.argmax()) * 90
            return (360 - best) % 360 if likely.max() >= _CERTAIN else 0
        lying = sum(b.size[0] >= b.size[1] for b in long) * 2 >= len(long)
        if lying and likely[0] >= _CERTAIN:
            return 0
        crops = [cut_line(pixels, b.corners) for b in long]
        # Crops of upright boxes were laid on their side by a quarter counter-clockwise.
        as_is = self._recogniser.confidence(crops)
        over = self._recogniser.confidence([turn_pixels(c, 180) for c in crops])
        if lying:
            return 180 if over > max(as_is + _BETTER, _READABLE) else 0
        best = 270 if as_is > over else 90
        if max(as_is, over) < _READABLE or abs(as_is - over) < _BETTER:
            return 0
        # Columns of Chinese or Japanese stand upright as they are, and are read none the worse for
        # being laid on their side.
        turned = likely[1] if best == 270 else likely[3]
        return best if turned > likely[0] else 0
