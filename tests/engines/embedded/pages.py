"""Upright pages for tests, made from a few words; and generated pages read in full.

Owns building the input of the structure stage. Never asserts.
"""

from __future__ import annotations

import numpy as np

from moonpress.document import PageSize
from moonpress.engines.embedded.types import Box, Line, UprightPage, Word

LETTER = 10.0
HEIGHT = 20.0


def line(text: str, x: float, y: float, *, size: float = HEIGHT, bold: bool = False) -> Line:
    """A line whose letters are half as wide as it is high."""
    width = size / 2
    words, at = [], x
    for word in text.split():
        words.append(Word(Box(at, y, at + width * len(word), y + size), word))
        at += width * (len(word) + 1)
    box = Box(x, y, x + width * len(text), y + size)
    return Line(box=box, text=text, size=size, bold=bold, words=tuple(words))


def column(texts: list[str], x: float, y: float, *, pitch: float = 26.0) -> list[Line]:
    """Lines under each other."""
    return [line(text, x, y + k * pitch) for k, text in enumerate(texts)]


def page(lines: list[Line], *, width: int = 1000, height: int = 1400) -> UprightPage:
    """A white page at 144 dpi."""
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    size = PageSize(width / 2, height / 2, width, height)
    return UprightPage(pixels=pixels, page_size=size, lines=tuple(lines))
