"""Quarter turns of boxes and pictures.

Owns the arithmetic of turning by 0, 90, 180 and 270 degrees clockwise. Never decides whether a page
must be turned.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def turn_boxes(boxes: Floats, quarter: int, width: float, height: float) -> Floats:
    """Where boxes lie after their picture is turned.

    Args:
        boxes: (N, 4) x0, y0, x1, y1 in a picture of ``width`` x ``height``.
        quarter: Degrees clockwise: 0, 90, 180 or 270.
        width: Width before turning.
        height: Height before turning.
    """
    x0, y0, x1, y1 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    if quarter == 90:
        turned = (height - y1, x0, height - y0, x1)
    elif quarter == 180:
        turned = (width - x1, height - y1, width - x0, height - y0)
    elif quarter == 270:
        turned = (y0, width - x1, y1, width - x0)
    else:
        return boxes
    return np.stack(turned, axis=1).astype(np.float32)


def turn_pixels(pixels: npt.NDArray[np.uint8], quarter: int) -> npt.NDArray[np.uint8]:
    """The picture turned by ``quarter`` degrees clockwise."""
    return np.ascontiguousarray(np.rot90(pixels, -(quarter // 90))) if quarter else pixels
