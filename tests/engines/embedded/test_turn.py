"""Boxes found on the upright picture must come back to where they lie on the page."""

from __future__ import annotations

import numpy as np
import pytest

from moonpress.engines.embedded.orientation import straighten
from moonpress.engines.embedded.turning import turn_boxes, turn_pixels
from moonpress.engines.embedded.types import Box, Turn

WIDTH, HEIGHT = 300, 420


def _marked(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
    pixels = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
    pixels[y0:y1, x0:x1] = 0
    return pixels


def _dark_box(pixels: np.ndarray) -> Box:
    rows, columns = np.nonzero(pixels[:, :, 0] < 128)
    return Box(
        float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1)
    )


@pytest.mark.parametrize("quarter", [0, 90, 180, 270])
@pytest.mark.parametrize("skew", [0.0, 2.5, -7.0])
def test_a_mark_found_upright_comes_back_to_its_place(quarter: int, skew: float) -> None:
    mark = (200, 40, 230, 52)
    turned = turn_pixels(_marked(*mark), quarter)
    turn = Turn(quarter)
    if skew:
        turned, turn, _ = straighten(turned, quarter, skew)
    back = turn.back(_dark_box(turned), turned.shape[1], turned.shape[0])
    centre = ((back.x0 + back.x1) / 2 * WIDTH, (back.y0 + back.y1) / 2 * HEIGHT)
    assert centre == pytest.approx((215, 46), abs=1.5)
    # Enclosing a turned box twice makes it larger, never smaller.
    assert back.x0 * WIDTH <= 201
    assert back.x1 * WIDTH >= 229
    if not skew:
        pixels = (back.x0 * WIDTH, back.y0 * HEIGHT, back.x1 * WIDTH, back.y1 * HEIGHT)
        assert pixels == pytest.approx(mark, abs=1e-6)


@pytest.mark.parametrize("skew", [9.0, -9.0])
def test_straightening_cuts_no_corner_off(skew: float) -> None:
    pixels = _marked(0, 0, 12, 12)
    pixels[-12:, -12:] = 0
    straight, _, _ = straighten(pixels, 0, skew)
    assert (straight < 128).sum() == pytest.approx((pixels < 128).sum(), rel=0.1)


@pytest.mark.parametrize("quarter", [0, 90, 180, 270])
def test_boxes_turn_like_pixels(quarter: int) -> None:
    mark = (200, 40, 230, 52)
    boxes = turn_boxes(np.array([mark], dtype=np.float32), quarter, WIDTH, HEIGHT)
    assert tuple(boxes[0]) == _dark_box(turn_pixels(_marked(*mark), quarter))
