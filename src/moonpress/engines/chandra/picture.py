"""The picture of a page as a Chandra model wants it: size and encoding.

Owns the bounds of the model, one resampling, and the encodings. Never sends anything. The functions
take tens of milliseconds of CPU: call them in a thread.

The vision tower cuts a picture into cells of 32 x 32 pixels, one token each, and was trained with
up to 3,072 x 2,048 pixels (model card of Chandra-OCR-2). A server resamples sides that are no
multiples of 32, so sides are rounded here and the picture is resampled once at most.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from math import sqrt

import numpy as np
import numpy.typing as npt

from moonpress.document import EncodedPicture, PictureEncoder
from moonpress.engines.blank import is_blank
from moonpress.errors import EngineRejected

CELL = 32
MOST_PIXELS = 3072 * 2048
_FEWEST_PIXELS = 65_536
_JPEG_QUALITY = 95
_WEBP_QUALITY = 95
_PNG_LEVEL = 1

Pixels = npt.NDArray[np.uint8]


class ImageFormat(StrEnum):
    """How pictures travel; the measurements behind the default are in docs/chandra.md."""

    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"


def encoder(form: ImageFormat) -> PictureEncoder:
    """What the process that draws a page is to do with its picture."""
    return PictureEncoder(f"{__name__}:encode_page", (("form", form.value),))


def encode_page(pixels: Pixels, form: str) -> EncodedPicture:
    """Fit and encode a page for the first try, and see whether it is blank."""
    picture = encode(pixels, ImageFormat(form), 1.0)
    return replace(picture, blank=is_blank(pixels))


def tokens_of(picture: EncodedPicture) -> int:
    """Tokens that the model sees a fitted picture as."""
    return picture.width * picture.height // (CELL * CELL)


def fit(width: int, height: int, zoom: float) -> tuple[int, int]:
    """The size, in pixels, at which a picture of ``width`` x ``height`` is read.

    Both sides are multiples of 32, the area is within the model's bounds, and the ratio of the
    sides is kept as well as that allows.
    """
    area = width * height * zoom * zoom
    bounded = min(max(area, _FEWEST_PIXELS), MOST_PIXELS)
    scale = zoom * sqrt(bounded / area)
    columns = max(round(width * scale / CELL), 1)
    rows = max(round(height * scale / CELL), 1)
    most = MOST_PIXELS // (CELL * CELL)
    while columns * rows > most:
        if _distortion(columns - 1, rows, width, height) < _distortion(
            columns, rows - 1, width, height
        ):
            columns -= 1
        else:
            rows -= 1
    return columns * CELL, rows * CELL


def _distortion(columns: int, rows: int, width: int, height: int) -> float:
    if not columns or not rows:
        return float("inf")
    ratio = columns * height / (rows * width)
    return max(ratio, 1 / ratio)


def fitted(pixels: Pixels, zoom: float) -> Pixels:
    """The picture at the size at which it is read; itself where that is its size.

    Args:
        pixels: (H, W, 3) uint8 RGB, or (H, W) of one channel.
        zoom: As in `Sampling`.
    """
    import cv2

    height, width = pixels.shape[:2]
    target = fit(width, height, zoom)
    if target == (width, height):
        return pixels
    smaller = target[0] * target[1] < 0.9 * width * height
    how = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, target, interpolation=how), dtype=np.uint8)


def encode(pixels: Pixels, form: ImageFormat, zoom: float) -> EncodedPicture:
    """Fit and encode a page.

    Pages without colour are sent as one channel, which costs a third and changes no pixel.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        form: The encoding.
        zoom: As in `Sampling`.

    Raises:
        EngineRejected: the picture is too large for the encoding.
    """
    import cv2

    grey = _is_grey(pixels)
    image = fitted(np.ascontiguousarray(pixels[:, :, 0]) if grey else pixels, zoom)
    height, width = image.shape[:2]
    if not grey:
        image = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2BGR), dtype=np.uint8)
    suffix, parameters = _parameters(form)
    done, data = cv2.imencode(suffix, image, parameters)
    if not done:
        message = f"a picture of {width} x {height} pixels cannot be encoded as {form}"
        raise EngineRejected(message, hint="Choose another --image-format")
    return EncodedPicture(data.tobytes(), media_type(form), width, height)


def media_type(form: ImageFormat) -> str:
    """Such as ``image/jpeg``."""
    return f"image/{form.value}"


def _parameters(form: ImageFormat) -> tuple[str, list[int]]:
    import cv2

    if form is ImageFormat.JPEG:
        full_colour = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444
        return ".jpg", [
            cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, full_colour
        ]  # fmt: skip
    if form is ImageFormat.WEBP:
        return ".webp", [cv2.IMWRITE_WEBP_QUALITY, _WEBP_QUALITY]
    return ".png", [cv2.IMWRITE_PNG_COMPRESSION, _PNG_LEVEL]


def _is_grey(pixels: Pixels) -> bool:
    sample = pixels[::16]
    if any(not np.array_equal(sample[:, :, 0], sample[:, :, channel]) for channel in (1, 2)):
        return False
    red = pixels[:, :, 0]
    return all(np.array_equal(red, pixels[:, :, channel]) for channel in (1, 2))
