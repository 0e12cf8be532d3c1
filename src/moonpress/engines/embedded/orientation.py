"""Which way up a page is, and by how little it stands askew.

Owns the orientation network and the measuring and undoing of skew. Never reads text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.detection import TextBox
from moonpress.engines.embedded.runtime import FloatArray, Network
from moonpress.engines.embedded.types import Turn

Pixels = npt.NDArray[np.uint8]

_SHORT_SIDE = 256
_CROP = 224
_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)
_LEAST_SKEW = 0.2  # degrees; less does not harm what comes later
_MOST_SKEW = 12.0


class Orientation:
    """Tells by which quarter a picture of a page is turned.

    Args:
        threads: Threads the network may use.
    """

    def __init__(self, threads: int) -> None:
        models = Path(str(files("moonpress.engines.embedded.models")))
        self._network = Network(models / "page_orientation.onnx", threads)

    def likelihoods(self, pixels: Pixels) -> FloatArray:
        """How likely the page is turned by 0, 90, 180 and 270 degrees clockwise: (4,), sum 1.

        Args:
            pixels: (H, W, 3) uint8 RGB.
        """
        import cv2

        pixels = _inked_part(pixels)
        height, width = pixels.shape[:2]
        scale = _SHORT_SIDE / min(height, width)
        size = (max(_CROP, round(width * scale)), max(_CROP, round(height * scale)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        left, top = (size[0] - _CROP) // 2, (size[1] - _CROP) // 2
        crop = small[top : top + _CROP, left : left + _CROP, ::-1].astype(np.float32) / 255
        crop -= np.array(_MEAN, dtype=np.float32)
        crop /= np.array(_DEVIATION, dtype=np.float32)
        batch = np.ascontiguousarray(crop.transpose(2, 0, 1)[None]).astype(np.float32)
        result: FloatArray = self._network.run(batch)[0].copy()
        return result


def _inked_part(pixels: Pixels) -> Pixels:
    """The part of a page that is not empty: the network only looks at the middle of a picture."""
    import cv2

    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (width // 8 + 1, height // 8 + 1), interpolation=cv2.INTER_AREA)
    grey = small.min(axis=2)
    ink = np.abs(grey.astype(np.int16) - int(np.median(grey))) > 24
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return pixels
    top, bottom = rows[0] * 8, (rows[-1] + 1) * 8
    left, right = columns[0] * 8, (columns[-1] + 1) * 8
    if min(bottom - top, right - left) < _CROP // 2:
        return pixels
    return pixels[top:bottom, left:right]


def skew_of(boxes: Sequence[TextBox]) -> float:
    """Degrees clockwise by which lines of text stand askew; 0 where that cannot be told."""
    edges = np.array([b.corners[1] - b.corners[0] for b in boxes]).reshape(-1, 2)
    sides = np.array([b.corners[3] - b.corners[0] for b in boxes]).reshape(-1, 2)
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    long = lengths > 6 * np.hypot(sides[:, 0], sides[:, 1])
    if long.sum() < 3:
        return 0.0
    angles = np.degrees(np.arctan2(edges[long, 1], edges[long, 0]))
    order = np.argsort(angles)
    weights = np.cumsum(lengths[long][order])
    middle = float(angles[order][np.searchsorted(weights, weights[-1] / 2)])
    # Lines that point in all directions are no skewed page.
    agree = np.abs(angles - middle) < 1.0
    if agree.mean() < 0.6 or not _LEAST_SKEW <= abs(middle) <= _MOST_SKEW:
        return 0.0
    return middle


def straighten(pixels: Pixels, quarter: int, skew: float) -> tuple[Pixels, Turn, FloatArray]:
    """Undo skew.

    Args:
        pixels: The page after its quarter turn.
        quarter: That turn.
        skew: Degrees clockwise by which lines stand askew.

    Returns:
        The picture, on a larger sheet of the paper's colour; how it came about; and the (2, 3)
        matrix that maps points of ``pixels`` to it.
    """
    import cv2

    height, width = pixels.shape[:2]
    cos, sin = math.cos(math.radians(abs(skew))), math.sin(math.radians(abs(skew)))
    margin_x = max(0, math.ceil((width * cos + height * sin - width) / 2))
    margin_y = max(0, math.ceil((width * sin + height * cos - height) / 2))
    sheet = (width + 2 * margin_x, height + 2 * margin_y)
    # OpenCV turns counter-clockwise by positive angles, which undoes a clockwise skew.
    matrix = cv2.getRotationMatrix2D((sheet[0] / 2, sheet[1] / 2), skew, 1.0)
    matrix[:, 2] += matrix[:, :2] @ (margin_x, margin_y)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    paper = [float(v) for v in np.median(edge, axis=0)]
    turned = cv2.warpAffine(
        pixels, matrix, sheet, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
        borderValue=paper,
    ).astype(np.uint8, copy=False)  # fmt: skip
    turn = Turn(quarter, -skew, margin_x, margin_y)
    return turned, turn, matrix.astype(np.float32)


def move_boxes(boxes: Sequence[TextBox], matrix: FloatArray) -> list[TextBox]:
    """Boxes after their picture was mapped by a (2, 3) matrix."""
    return [TextBox(b.corners @ matrix[:, :2].T + matrix[:, 2], b.score) for b in boxes]
