"""Generated pages as pictures: clean or worn scans, turned and skewed, and half scanned PDFs.

Owns rendering (pypdfium2) and the wear. Boxes of the truth stay those of the upright page.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from tests.generators import fonts
from tests.generators.page import GeneratedPage

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Wear:
    """How a picture suffers.

    Attributes:
        blur: Standard deviation of a Gaussian in pixels.
        noise: Standard deviation of added grey noise, of 255.
        shadow: How much darker the right edge is than the left, of 255.
        contrast: Factor on all values.
        quality: JPEG quality at which it is saved once.
    """

    blur: float = 0.0
    noise: float = 0.0
    shadow: float = 0.0
    contrast: float = 1.0
    quality: int = 95

    @classmethod
    def worn(cls) -> Wear:
        """A bad copier or a hurried photograph; meant for 130 dpi."""
        return cls(blur=0.8, noise=9.0, shadow=40.0, contrast=0.86, quality=55)


def as_scan(
    page: GeneratedPage,
    dpi: int = 200,
    *,
    degrade: Wear | bool = False,
    rotate: int = 0,
    skew: float = 0.0,
    seed: int = 0,
    codec: str = "png",
) -> bytes:
    """The page as a picture file, with its resolution noted in it.

    Args:
        page: What to draw.
        dpi: Resolution.
        degrade: Wear; ``True`` for `Wear.worn`.
        rotate: Degrees clockwise, a multiple of 90, by which the picture is turned at the end.
        skew: Degrees clockwise, small, on white.
        seed: Of the noise.
        codec: ``png`` or ``jpeg``.
    """
    wear = Wear.worn() if degrade is True else degrade or None
    pixels = as_pixels(page, dpi)
    if skew:
        pixels = _skewed(pixels, skew)
    if wear is not None:
        pixels = _worn(pixels, wear, seed)
    pixels = np.ascontiguousarray(np.rot90(pixels, k=-(rotate // 90) % 4))
    buffer = io.BytesIO()
    quality = wear.quality if wear else 92
    options = {"quality": quality} if codec == "jpeg" else {"compress_level": 1}
    Image.fromarray(pixels).save(buffer, codec.upper(), dpi=(dpi, dpi), **options)
    return buffer.getvalue()


def as_pixels(page: GeneratedPage, dpi: int = 200) -> Pixels:
    """The page as (H, W, 3) uint8 RGB."""
    with pdfium.PdfDocument(page.pdf) as document:
        bitmap = document[0].render(scale=dpi / 72, rev_byteorder=True)
        return np.ascontiguousarray(bitmap.to_numpy()[:, :, :3])


def image_only_pdf(picture: bytes, dpi: int = 200, stamp: str = "") -> bytes:
    """A one-page PDF of nothing but a picture, plus a line of real text at the top if asked."""
    image = ImageReader(io.BytesIO(picture))
    width, height = (72 * pixels / dpi for pixels in image.getSize())
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=(width, height), invariant=1)
    drawing.drawImage(image, 0, 0, width, height)
    if stamp:
        fonts.register()
        drawing.setFont(fonts.Face.SANS.value, 9)
        drawing.drawString(24, height - 24, stamp)
    drawing.showPage()
    drawing.save()
    return buffer.getvalue()


def mixed(
    page: GeneratedPage,
    stamp: str = "RECEIVED 14 March 2031, file 20-118",
    dpi: int = 200,
    degrade: Wear | bool = False,
) -> bytes:
    """A scan of the page in a PDF, with a stamp of real text at the top left.

    Keep the page's own top 30 points free.
    """
    picture = as_scan(page, dpi=dpi, degrade=degrade, codec="jpeg")
    return image_only_pdf(picture, dpi=dpi, stamp=stamp)


def _skewed(pixels: Pixels, degrees: float) -> Pixels:
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)
    white = (255, 255, 255)
    turned = cv2.warpAffine(
        pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=white
    )
    return np.asarray(turned, dtype=np.uint8)


def _worn(pixels: Pixels, wear: Wear, seed: int) -> Pixels:
    rng = np.random.default_rng(seed)
    values = pixels.astype(np.float32)
    if wear.blur:
        values = np.asarray(cv2.GaussianBlur(values, (0, 0), wear.blur), dtype=np.float32)
    ramp = np.linspace(0.0, wear.shadow, values.shape[1], dtype=np.float32)[None, :, None]
    values = values * wear.contrast + (1 - wear.contrast) * 128 - ramp
    if wear.noise:
        values += rng.normal(0.0, wear.noise, values.shape[:2]).astype(np.float32)[:, :, None]
    worn = np.clip(values, 0, 255).astype(np.uint8)
    _, coded = cv2.imencode(".jpg", worn[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, wear.quality])
    decoded = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), dtype=np.uint8)
    return np.ascontiguousarray(decoded[:, :, ::-1])
