"""Empty pages are seen as such, and a lone page number is not taken for dust."""

from __future__ import annotations

import cv2
import numpy as np

from moonpress.engines.blank import is_blank


def _paper(level: int = 250) -> np.ndarray:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 6, (1000, 700, 1))
    return np.clip(level + noise, 0, 255).astype(np.uint8).repeat(3, axis=2)


def test_white_and_coloured_paper_is_blank() -> None:
    assert is_blank(np.full((1000, 700, 3), 255, dtype=np.uint8))
    assert is_blank(np.full((1000, 700, 3), (250, 230, 180), dtype=np.uint8))
    assert is_blank(np.zeros((1000, 700, 3), dtype=np.uint8))


def test_grain_dust_and_the_shadow_of_an_edge_are_blank() -> None:
    page = _paper()
    page[:, :5] = 60
    page[300:305, 200:205] = 20
    page[700:704, 500:506] = 20
    assert is_blank(page)


def test_a_lone_page_number_is_not_blank() -> None:
    page = _paper()
    cv2.putText(page, "7", (340, 960), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (40, 40, 40), 2)
    assert not is_blank(page)


def test_a_faint_coloured_word_and_a_photograph_are_not_blank() -> None:
    page = _paper()
    cv2.putText(page, "yellow", (200, 500), cv2.FONT_HERSHEY_SIMPLEX, 1, (250, 250, 90), 2)
    assert not is_blank(page)
    ramp = np.linspace(0, 255, 700, dtype=np.uint8)
    assert not is_blank(np.broadcast_to(ramp[None, :, None], (1000, 700, 3)).copy())
