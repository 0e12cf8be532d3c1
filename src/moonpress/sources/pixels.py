"""Pixels of any kind into RGB on white.

Owns conversions between Pillow's modes: palettes, 16 bits, CMYK, Lab, transparency. Never opens
files and never scales.
"""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms

Pixels = npt.NDArray[np.uint8]

_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
_SCALABLE_MODES = frozenset({"L", "LA", "RGB", "RGBA", "CMYK", "LAB"})
# A 16-bit picture darker than this share of the range holds fewer bits, such as 12 of a scanner.
_FEWER_BITS = 1 / 8


def plain_mode(image: Image.Image) -> Image.Image:
    """The picture in 8 bits per channel, without palette, so that it can be scaled.

    Transparency stays: the result is L, LA, RGB, RGBA, CMYK or LAB.
    """
    if image.mode in _DEEP_MODES:
        return Image.fromarray(_eight_bits(np.asarray(image)))
    if image.has_transparency_data:
        return image.convert("RGBA")
    if image.mode in _SCALABLE_MODES:
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _eight_bits(values: npt.NDArray[np.generic]) -> Pixels:
    """Grey values of more than 8 bits, spread over 0 to 255."""
    grey = np.nan_to_num(values.astype(np.float32))
    low, high = float(grey.min()), float(grey.max())
    if values.dtype.kind == "f" or low < 0 or high > 0xFFFF:
        span = high - low
        grey = (grey - low) * (255 / span if span else 0)
    else:
        grey *= 255 / (0xFFFF if high >= 0xFFFF * _FEWER_BITS else max(high, 1))
    scaled: Pixels = grey.round().astype(np.uint8)
    return scaled


def to_rgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """RGB on white.

    Args:
        image: In a mode that `plain_mode` makes.
        profile: ICC profile of the file; used for CMYK, where it changes what can be read, and
            not for RGB, where it only changes shades.
    """
    if image.mode in {"RGBA", "LA"}:
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
    if image.mode == "CMYK" and profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            managed = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError):
            managed = None
        if managed is not None:
            return managed
    return image.convert("RGB")


def share_with_content(pixels: Pixels) -> float:
    """Share of the height down to the last row that differs from an even rest, 0 to 1.

    What Pillow cannot read at the end of a damaged picture is of one colour.
    """
    rest = (pixels == pixels[-1, -1]).all(axis=(1, 2))
    with_content = np.flatnonzero(~rest)
    return (int(with_content[-1]) + 1) / len(pixels) if len(with_content) else 0.0


def upright(pixels: Pixels, orientation: int) -> tuple[Pixels, bool]:
    """The pixels turned and mirrored by an EXIF orientation, and whether sides were swapped."""
    if orientation in {5, 6, 7, 8}:
        pixels = pixels.transpose(1, 0, 2)
    if orientation in {2, 3, 6, 7}:
        pixels = pixels[:, ::-1]
    if orientation in {3, 4, 7, 8}:
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels), orientation in {5, 6, 7, 8}
