"""From a drawn page to an upright page with lines of text: the first stage of the embedded engine.

Owns the decision between text layer and OCR for each page. Never finds blocks or reading order.
"""

from __future__ import annotations

import numpy as np

from moonpress.document import PageImage, TextOrigin
from moonpress.engines.embedded.ocr import Recogniser
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.text_lines import lines_of_layer
from moonpress.engines.embedded.types import Box, UprightPage


class TextStage:
    """Prepares pages; loads its models on first need and keeps them for the process."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._settings = settings
        self._recogniser = Recogniser(fast=settings.fast, threads=settings.threads)

    def prepare(self, image: PageImage) -> UprightPage:
        """Turn ``image`` upright and find its lines of text."""
        height, width = image.pixels.shape[:2]
        scale = np.array([width, height, width, height], dtype=np.float32)
        rulings = tuple(Box(*map(float, row)) for row in image.rulings * scale)
        pictures = tuple(
            Box(p.x0 * width, p.y0 * height, p.x1 * width, p.y1 * height) for p in image.pictures
        )
        layer = image.text_layer
        if layer is not None and self._settings.ocr != "always" and len(layer) > 20:
            lines = lines_of_layer(
                layer, layer.boxes * scale, rulings, width=width, height=height, dpi=image.size.dpi
            )
            origin = TextOrigin.TEXT_LAYER
        else:
            lines = self._recogniser.read(image.pixels)
            origin = TextOrigin.OCR
        return UprightPage(
            pixels=image.pixels,
            page_size=image.size,
            lines=lines,
            rulings=rulings,
            pictures=pictures,
            origin=origin,
        )
