"""Letter pages at 192 dpi, 1,632 x 2,112 pixels, with lines whose text is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium

from moonpress.document import PageImage, PageSize

REPORT = Path(__file__).resolve().parents[2] / "docs" / "report" / "moonpress-report.pdf"
DPI = 192
WIDTH, HEIGHT = 1632, 2112

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Line:
    """Some words of a page.

    Attributes:
        text: Without spaces.
        box: left, top, right, bottom in pixels.
    """

    text: str
    box: tuple[int, int, int, int]


def printed(number: int) -> tuple[Pixels, list[Line]]:
    """A page of our report on letter paper, not resampled."""
    with pdfium.PdfDocument(REPORT) as document:
        page = document[number - 1]
        drawn = page.render(scale=DPI / 72, rev_byteorder=True).to_numpy()[:, :, :3]
        pixels = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
        height, width = min(HEIGHT, drawn.shape[0]), min(WIDTH, drawn.shape[1])
        pixels[:height, :width] = drawn[:height, :width]
        return pixels, [line for line in _lines(page) if line.box[3] < HEIGHT - 4]


def _lines(page: pdfium.PdfPage) -> list[Line]:
    text = page.get_textpage()
    top, scale = page.get_height(), DPI / 72
    lines = []
    for index in range(text.count_rects()):
        left, low, right, high = text.get_rect(index)
        words = "".join(text.get_text_bounded(left, low, right, high).split())
        box = (
            max(int(left * scale) - 3, 0),
            max(int((top - high) * scale) - 3, 0),
            int(right * scale) + 4,
            int((top - low) * scale) + 4,
        )
        if len(words) >= 12 and words.isascii() and box[2] < WIDTH:
            lines.append(Line(words, box))
    return lines


def scanned(pixels: Pixels) -> Pixels:
    """The page as an office scanner sees it: paper that is not white, grain, soft edges."""
    import cv2

    draw = np.random.default_rng(1)
    soft = cv2.GaussianBlur(pixels, (0, 0), 0.8).astype(np.float32)
    paper = np.array([250, 246, 236], dtype=np.float32) / 255
    grain = draw.normal(0, 4, pixels.shape).astype(np.float32)
    return np.clip(soft * paper + grain, 0, 255).astype(np.uint8)


def page_image(pixels: Pixels, number: int = 1) -> PageImage:
    return PageImage(number=number, picture=pixels, size=PageSize(612.0, 792.0, WIDTH, HEIGHT))
