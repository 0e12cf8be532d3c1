"""Whether anything is drawn on a page.

Owns the look at pixels. Never looks at text layers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_CELL = 4  # pixels that are averaged, so that noise and grain vanish
_CONTRAST = 30.0  # difference of a cell from the paper around it that counts as ink, of 255
_SPECK = 5  # groups of fewer cells are dust
_SHARP = 60  # difference of neighbouring pixels that is an edge of ink
_MANY_EDGES = 0.005  # share of edges from which nobody would call a page blank
_EDGE = 0.015  # share of the page at its edge where scanners leave shadows


def is_blank(pixels: npt.NDArray[np.uint8]) -> bool:
    """Whether a page shows nothing but paper, dust and the shadow of its edge.

    Args:
        pixels: (H, W, 3) uint8.
    """
    import cv2

    if _plainly_inked(pixels):
        return False
    height, width = pixels.shape[:2]
    size = (max(width // _CELL, 1), max(height // _CELL, 1))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(small, 31) if min(size) > 31 else np.median(small, axis=(0, 1))
    ink = (np.abs(small.astype(np.int16) - paper).max(axis=2) > _CONTRAST).astype(np.uint8)
    if not ink.any():
        # A page of one colour, or a picture so smooth that the median follows it.
        return float(small.astype(np.float32).std(axis=(0, 1)).max()) < _CONTRAST
    _, _, groups, centres = cv2.connectedComponentsWithStats(ink, connectivity=8)
    inside = (np.abs(centres / size - 0.5) < 0.5 - _EDGE).all(axis=1)
    # The first group is the paper.
    return not ((groups[:, cv2.CC_STAT_AREA] >= _SPECK) & inside)[1:].any()


def _plainly_inked(pixels: npt.NDArray[np.uint8]) -> bool:
    """Whether there are sharp edges all over the page: most pages, at a tenth of the cost.

    Grain is too faint to count, dust too rare, shadows too soft.
    """
    import cv2

    height, width = pixels.shape[:2]
    top, left = height // 20, width // 20
    rows = np.ascontiguousarray(pixels[top : height - top : _CELL, left : width - left, 1])
    if min(rows.shape) < 2:
        return False
    steps = cv2.absdiff(rows[:, 1:], rows[:, :-1])
    return int(np.count_nonzero(steps > _SHARP)) > _MANY_EDGES * steps.size
