"""Resolutions in pictures: which are believed, and what is assumed otherwise."""

from __future__ import annotations

import pytest

from moonpress.sources.base import RenderRequest
from moonpress.sources.image_size import fitted, resolution_of, size_in_points


@pytest.mark.parametrize(
    ("size", "stated", "dpi"),
    [
        ((2550, 3300), (300, 300), 300),
        ((1275, 1650), (150.0, 150.0), 150),
        ((612, 792), (72, 72), 72),
        ((19866, 28087), (600, 600), 600),
        # Defaults that mean nothing.
        ((4000, 3000), (72, 72), 4000 / 11),
        ((3300, 2550), (96, 96), 300),
        # Rubbish.
        ((1100, 850), (1, 1), 100),
        ((1100, 850), (0, 0), 100),
        ((1100, 850), (1e9, 1e9), 100),
        ((1100, 850), (float("nan"), 72), 100),
        ((1100, 850), None, 100),
        ((1100, 850), ("x", "y"), 100),
        ((1100, 850), (300,), 100),
        # Nothing stated: a snippet is no poster, a large scan no stamp.
        ((300, 40), None, 72),
        ((9000, 6000), None, 400),
    ],
)
def test_resolutions(size: tuple[int, int], stated: object, dpi: float) -> None:
    assert resolution_of(size, stated) == pytest.approx((dpi, dpi))


def test_fax_pixels_are_made_square_by_stretching() -> None:
    dpi = resolution_of((1728, 1078), (204, 98))
    assert list(dpi) == [204, 98]
    target, problems = fitted((1728, 1078), dpi, RenderRequest(200, 8_000_000))
    assert target == (1728, round(1078 * 204 / 98))
    assert problems == ()
    width, height = size_in_points((1728, 1078), dpi)
    assert width / height == pytest.approx(target[0] / target[1], rel=1e-3)


def test_strips_keep_a_pixel() -> None:
    target, problems = fitted((100_000, 2), (300, 300), RenderRequest(200, 8_000_000))
    assert target == (32_000, 1)
    assert problems
