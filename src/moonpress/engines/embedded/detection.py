"""Where text stands in a picture.

Owns the PP-OCRv6 detector: scaling, and quadrilaterals from its probability map, as in the
Differentiable Binarization paper (Liao et al. 2020). Never reads what stands there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.runtime import FloatArray, Network

Pixels = npt.NDArray[np.uint8]

_INK = 0.3  # probability from which a pixel counts as text
_SURE = 0.5  # mean probability from which a region counts as text
_GROW = 1.6  # the map shows the middle of lines; they are grown by area * _GROW / perimeter
_MIN_SIDE = 3
_LENGTH_STEP = 128


@dataclass(frozen=True, slots=True)
class TextBox:
    """A turned rectangle around one line of text.

    Attributes:
        corners: (4, 2) pixels: top left, top right, bottom right, bottom left, as read.
        score: Mean probability, 0 to 1.
    """

    corners: FloatArray
    score: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height along its own sides."""
        across = self.corners[1] - self.corners[0]
        down = self.corners[3] - self.corners[0]
        return float(np.hypot(*across)), float(np.hypot(*down))


class Detector:
    """Finds lines of text.

    Args:
        path: The ONNX file.
        threads: Threads it may use.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._network = Network(path, threads)

    def find(self, pixels: Pixels, side: int) -> list[TextBox]:
        """Lines of text in ``pixels``.

        Args:
            pixels: (H, W, 3) uint8 RGB.
            side: The picture is scaled down to this longer side for detection.
        """
        import cv2

        height, width = pixels.shape[:2]
        scale = min(1.0, side / max(height, width))
        rows, cols = max(round(height * scale), 1), max(round(width * scale), 1)
        small = cv2.resize(pixels, (cols, rows), interpolation=cv2.INTER_AREA)
        batch = np.ones((1, 3, _padded(rows), _padded(cols)), dtype=np.float32)
        batch[0, :, :rows, :cols] = small[:, :, ::-1].transpose(2, 0, 1)
        batch[0, :, :rows, :cols] /= 127.5
        batch[0, :, :rows, :cols] -= 1.0
        score_map = self._network.run(batch)[0, 0, :rows, :cols]
        boxes = _boxes(score_map)
        factor = np.array([width / cols, height / rows], dtype=np.float32)
        limit = np.array([width, height], dtype=np.float32)
        return [TextBox(np.clip(b.corners * factor, 0, limit), b.score) for b in boxes]


def _padded(length: int) -> int:
    """The next length that the network is used with: each size costs it time and memory once."""
    return -(-length // _LENGTH_STEP) * _LENGTH_STEP


def _boxes(score_map: FloatArray) -> list[TextBox]:
    import cv2

    mask = (score_map > _INK).astype(np.uint8)
    mask = cv2.dilate(mask, np.ones((2, 2), np.uint8)).astype(np.uint8, copy=False)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    result = []
    for contour in contours:
        centre, (wide, high), angle = cv2.minAreaRect(contour)
        if min(wide, high) < _MIN_SIDE:
            continue
        core = cv2.boxPoints((centre, (wide, high), angle)).astype(np.float32, copy=False)
        score = _mean_inside(score_map, core)
        if score < _SURE:
            continue
        grow = wide * high * _GROW / (2 * (wide + high))
        larger = (centre, (wide + 2 * grow, high + 2 * grow), angle)
        whole = cv2.boxPoints(larger).astype(np.float32, copy=False)
        result.append(TextBox(_as_read(whole), score))
    return result


def _mean_inside(score_map: FloatArray, corners: FloatArray) -> float:
    import cv2

    rows, cols = score_map.shape
    x0, y0 = np.clip(np.floor(corners.min(axis=0)), 0, [cols - 1, rows - 1]).astype(int)
    x1, y1 = np.clip(np.ceil(corners.max(axis=0)), 0, [cols - 1, rows - 1]).astype(int)
    mask = np.zeros((y1 - y0 + 1, x1 - x0 + 1), dtype=np.uint8)
    cv2.fillPoly(mask, [(corners - [x0, y0]).astype(np.int32)], 1)
    return float(cv2.mean(score_map[y0 : y1 + 1, x0 : x1 + 1], mask)[0])


def _as_read(corners: FloatArray) -> FloatArray:
    """Order corners: the two leftmost are the left side, and the upper comes first."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    top_left, bottom_left = by_x[:2][np.argsort(by_x[:2, 1], kind="stable")]
    top_right, bottom_right = by_x[2:][np.argsort(by_x[2:, 1], kind="stable")]
    return np.array([top_left, top_right, bottom_right, bottom_left], dtype=np.float32)
