from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from moonpress.engines.chandra.picture import (
    MOST_PIXELS,
    ImageFormat,
    encode,
    encode_page,
    encoder,
    fit,
    tokens_of,
)


@given(st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from([1.0, 0.8, 0.5]))
def test_sizes_are_multiples_of_32_within_the_bounds(width: int, height: int, zoom: float) -> None:
    columns, rows = fit(width, height, zoom)
    assert columns % 32 == rows % 32 == 0
    assert columns >= 32
    assert rows >= 32
    # A strip of one row cannot be made narrower than the ratio of its sides wants.
    assert columns * rows <= MOST_PIXELS


@given(st.integers(300, 6000), st.integers(300, 6000))
def test_the_ratio_of_sides_is_kept(width: int, height: int) -> None:
    columns, rows = fit(width, height, 1.0)
    assert abs(columns / rows * height / width - 1) < 0.17


@pytest.mark.parametrize(
    ("size", "tokens"),
    [((1632, 2112), 3366), ((1587, 2245), 3500), ((3175, 2245), 6045), ((1632, 1056), 1683)],
)
def test_known_pages_take_the_known_number_of_tokens(size: tuple[int, int], tokens: int) -> None:
    width, height = fit(*size, 1.0)
    assert width * height // 1024 == pytest.approx(tokens, rel=0.02)


def drawing(*, colour: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    pixels = np.full((320, 256, 3), 255, dtype=np.uint8)
    pixels[40:60, 30:200] = (10, 10, 10)
    if colour:
        pixels[100:200, 50:150] = (200, 30, 90)
    return pixels


@pytest.mark.parametrize("colour", [True, False])
def test_png_keeps_every_pixel(colour: bool) -> None:
    pixels = drawing(colour=colour)
    picture = encode(pixels, ImageFormat.PNG, 1.0)
    with Image.open(io.BytesIO(picture.data)) as image:
        assert image.mode == ("RGB" if colour else "L")
        assert np.array_equal(np.asarray(image.convert("RGB")), pixels)
    assert (picture.width, picture.height, tokens_of(picture)) == (256, 320, 80)


@pytest.mark.parametrize("form", list(ImageFormat))
def test_all_formats_show_the_same_colours(form: ImageFormat) -> None:
    pixels = drawing(colour=True)
    picture = encode(pixels, form, 1.0)
    assert picture.media_type == f"image/{form.value}"
    with Image.open(io.BytesIO(picture.data)) as image:
        assert image.format == form.value.upper()
        seen = np.asarray(image.convert("RGB")).astype(int)
    assert abs(seen[150, 100] - (200, 30, 90)).max() < 6


def test_zoom_makes_it_smaller() -> None:
    pixels = np.zeros((2112, 1632, 3), dtype=np.uint8)
    assert tokens_of(encode(pixels, ImageFormat.JPEG, 0.5)) == pytest.approx(3366 / 4, rel=0.02)


def test_a_page_that_is_encoded_where_it_is_drawn_knows_whether_it_is_blank() -> None:
    wanted = encoder(ImageFormat.JPEG)
    assert wanted.function.endswith(":encode_page")
    assert dict(wanted.arguments) == {"form": "jpeg"}
    inked = encode_page(drawing(colour=True), "jpeg")
    assert (inked.media_type, inked.blank) == ("image/jpeg", False)
    assert encode_page(np.full((320, 256, 3), 255, dtype=np.uint8), "jpeg").blank is True


@pytest.mark.parametrize("form", list(ImageFormat))
def test_an_encoded_picture_is_decoded_as_rgb(form: ImageFormat) -> None:
    seen = encode(drawing(colour=True), form, 1.0).decoded().astype(int)
    assert seen.shape == (320, 256, 3)
    assert abs(seen[150, 100] - (200, 30, 90)).max() < 6
