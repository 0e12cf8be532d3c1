"""The layout model: which parts of a page are titles, figures, tables, formulas and so on.

Owns running the CDLA PicoDet network and decoding its answer into `Region`s. Never decides what to
make of a region, and never looks at text.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.runtime import Network
from moonpress.engines.embedded.types import Box, Region, RegionKind, UprightPage

Floats = npt.NDArray[np.float32]

INPUT_HEIGHT, INPUT_WIDTH = 800, 608
STRIDES = (8, 16, 32, 64)
# The order of the network's classes, as its metadata gives it.
KINDS = (
    RegionKind.TEXT,
    RegionKind.TITLE,
    RegionKind.FIGURE,
    RegionKind.FIGURE_CAPTION,
    RegionKind.TABLE,
    RegionKind.TABLE_CAPTION,
    RegionKind.HEADER,
    RegionKind.FOOTER,
    RegionKind.REFERENCE,
    RegionKind.FORMULA,
)
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


class LayoutModel:
    """Finds regions in the picture of an upright page.

    Args:
        threads: Threads that one run of the network may use.
        threshold: Regions scored below this (0 to 1) are dropped.
    """

    def __init__(self, threads: int, threshold: float = 0.4) -> None:
        folder = Path(str(files("moonpress.engines.embedded.models")))
        self._network = Network(folder / "layout_cdla.onnx", threads)
        self._threshold = threshold
        self._centres = _centres()

    def find(self, page: UprightPage) -> tuple[Region, ...]:
        """All regions of the page, best first, at most one of a kind at a place."""
        outputs = self._network.run_all(_prepare(page.pixels))
        half = len(outputs) // 2
        scores = np.concatenate([output[0] for output in outputs[:half]])
        spans = np.concatenate([output[0] for output in outputs[half:]])
        anchors, classes = np.nonzero(scores > self._threshold)
        if not len(anchors):
            return ()
        boxes = _decode(spans[anchors], self._centres[anchors])
        scale = np.array(
            [page.width / INPUT_WIDTH, page.height / INPUT_HEIGHT] * 2, dtype=np.float32
        )
        boxes *= scale
        best = scores[anchors, classes]
        kept = _suppress(boxes, best, classes)
        limits = (page.width, page.height)
        return tuple(
            Region(KINDS[classes[i]], _clip(boxes[i], limits), float(best[i])) for i in kept
        )


def _prepare(pixels: npt.NDArray[np.uint8]) -> Floats:
    """Scale to the network's size and normalise; it was trained on BGR."""
    small = cv2.resize(pixels, (INPUT_WIDTH, INPUT_HEIGHT), interpolation=cv2.INTER_LINEAR)
    scaled = small[:, :, ::-1].astype(np.float32) / 255.0
    scaled -= np.array(MEAN, np.float32)
    scaled /= np.array(DEVIATION, np.float32)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


def _centres() -> Floats:
    """(N, 3): x, y and stride of every anchor, in the order of the network's outputs."""
    levels = []
    for stride in STRIDES:
        rows, columns = -(-INPUT_HEIGHT // stride), -(-INPUT_WIDTH // stride)
        y, x = np.mgrid[0:rows, 0:columns]
        level = np.stack([(x + 0.5) * stride, (y + 0.5) * stride, np.full(x.shape, stride)], -1)
        levels.append(level.reshape(-1, 3))
    return np.concatenate(levels).astype(np.float32)


def _decode(spans: Floats, centres: Floats) -> Floats:
    """Turn distributions over distances to the four sides into boxes.

    Each side is a softmax over 0..7 whose expectation, times the stride, is the distance from the
    anchor's centre (generalised focal loss, as PicoDet uses it).
    """
    logits = spans.reshape(len(spans), 4, -1)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    distances = (weights * np.arange(logits.shape[2])).sum(axis=2) * centres[:, 2:3]
    points = np.concatenate([centres[:, :2], centres[:, :2]], axis=1)
    result: Floats = points + distances * np.array([-1.0, -1.0, 1.0, 1.0])
    return result


def _suppress(
    boxes: Floats, scores: Floats, classes: npt.NDArray[np.intp], limit: float = 0.5
) -> list[int]:
    """Indexes of the boxes that no better box of their class overlaps by IoU over ``limit``."""
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    queue = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    while len(queue):
        first, rest = int(queue[0]), queue[1:]
        kept.append(first)
        low = np.maximum(boxes[rest, :2], boxes[first, :2])
        high = np.minimum(boxes[rest, 2:], boxes[first, 2:])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        iou = shared / (areas[rest] + areas[first] - shared + 1e-6)
        queue = rest[(iou <= limit) | (classes[rest] != classes[first])]
    return kept


def _clip(box: Floats, limits: tuple[int, int]) -> Box:
    width, height = limits
    x0, y0, x1, y1 = (float(v) for v in box)
    x0, x1 = max(x0, 0.0), min(x1, float(width))
    y0, y1 = max(y0, 0.0), min(y1, float(height))
    return Box(x0, y0, max(x0, x1), max(y0, y1))
