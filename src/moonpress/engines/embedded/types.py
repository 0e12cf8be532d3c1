"""What the stages of the embedded engine hand to each other.

Owns the pixel-space types. Never holds logic beyond coordinates; nothing outside the embedded
engine imports this.

The stages: ``prepare`` turns a `PageImage` into an `UprightPage` with lines of text; ``layout``
finds regions; ``tables`` reads table regions; ``structure`` makes blocks in reading order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from moonpress.document import BBox, PageSize, Problem, TextOrigin


class Box(NamedTuple):
    """Pixels of the upright picture, origin top left, x0 <= x1 and y0 <= y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Area in square pixels, never negative."""
        return max(self.x1 - self.x0, 0.0) * max(self.y1 - self.y0, 0.0)

    def overlap(self, other: Box) -> float:
        """Area shared with ``other`` in square pixels."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return max(width, 0.0) * max(height, 0.0)

    def inside(self, other: Box) -> float:
        """Share of this box that lies in ``other``, 0 to 1."""
        return self.overlap(other) / self.area if self.area > 0 else 0.0

    def union(self, other: Box) -> Box:
        """The smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )


@dataclass(frozen=True, slots=True)
class Word:
    """A run of letters without a space, with its box."""

    box: Box
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One horizontal run of text inside one column or one table cell.

    Attributes:
        box: Around its letters.
        text: With single spaces between words.
        confidence: 0 to 1; 1 for a trusted text layer.
        origin: Text layer or OCR.
        size: Letter size in pixels: the font size for a text layer, an estimate of it from the
            height of the line for OCR.
        bold: Whether most letters are bold; always False for OCR.
        italic: Whether most letters are italic; always False for OCR.
        mono: Whether most letters are of a fixed-width font; always False for OCR.
        words: Its words, left to right; for OCR their boxes are estimates.
    """

    box: Box
    text: str
    confidence: float = 1.0
    origin: TextOrigin = TextOrigin.OCR
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    mono: bool = False
    words: tuple[Word, ...] = ()


class RegionKind(StrEnum):
    """What the layout model calls a region."""

    TEXT = "text"
    TITLE = "title"
    FIGURE = "figure"
    FIGURE_CAPTION = "figure_caption"
    TABLE = "table"
    TABLE_CAPTION = "table_caption"
    HEADER = "header"
    FOOTER = "footer"
    REFERENCE = "reference"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Region:
    """A region found by the layout model or by ruling lines.

    Attributes:
        kind: What it is taken for.
        box: Where.
        score: 0 to 1.
    """

    kind: RegionKind
    box: Box
    score: float


@dataclass(frozen=True, slots=True)
class Turn:
    """How the upright picture was made from the page picture.

    First a quarter turn; then, if there is skew, a border is put around and the whole is turned
    about its centre by a small angle.

    Attributes:
        quarter: Degrees clockwise, 0, 90, 180 or 270, by which the page was turned.
        skew: Degrees clockwise by which it was then turned.
        margin_x: Pixels put on at the left and at the right before turning by ``skew``, so that no
            corner is cut off.
        margin_y: Pixels put on at the top and at the bottom.
    """

    quarter: int = 0
    skew: float = 0.0
    margin_x: int = 0
    margin_y: int = 0

    def back(self, box: Box, width: int, height: int) -> BBox:
        """Map a box of the upright picture (``width`` x ``height``) to fractions of the page."""
        corners = [(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        if self.skew:
            angle = math.radians(-self.skew)
            cos, sin = math.cos(angle), math.sin(angle)
            cx, cy = width / 2, height / 2
            corners = [
                (cx + (x - cx) * cos - (y - cy) * sin, cy + (x - cx) * sin + (y - cy) * cos)
                for x, y in corners
            ]
        inner_width, inner_height = width - 2 * self.margin_x, height - 2 * self.margin_y
        points = [
            self._unturn((x - self.margin_x) / inner_width, (y - self.margin_y) / inner_height)
            for x, y in corners
        ]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return BBox.ordered(min(xs), min(ys), max(xs), max(ys))

    def _unturn(self, x: float, y: float) -> tuple[float, float]:
        if self.quarter == 90:
            return y, 1 - x
        if self.quarter == 180:
            return 1 - x, 1 - y
        if self.quarter == 270:
            return 1 - y, x
        return x, y


@dataclass(frozen=True, slots=True, eq=False)
class UprightPage:
    """A page turned upright, with its lines of text.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        page_size: Size of the page as it was given, for font sizes in points.
        lines: All lines, in no particular order.
        rulings: Straight lines drawn on the page (vector or found in pixels), as thin boxes.
        pictures: Boxes of raster pictures placed on a PDF page.
        turn: How to map boxes back.
        origin: Where the text comes from; MIXED when both.
        problems: What is doubtful so far.
        blank: Nothing is drawn on the page; there is no point in looking for blocks.
    """

    pixels: npt.NDArray[np.uint8]
    page_size: PageSize
    lines: tuple[Line, ...]
    rulings: tuple[Box, ...] = ()
    pictures: tuple[Box, ...] = ()
    turn: Turn = Turn()
    origin: TextOrigin = TextOrigin.OCR
    problems: tuple[Problem, ...] = ()
    blank: bool = False

    @property
    def width(self) -> int:
        """Width of the upright picture in pixels."""
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        """Height of the upright picture in pixels."""
        return int(self.pixels.shape[0])

    def to_page(self, box: Box) -> BBox:
        """Map a box of this picture to fractions of the page as it was given."""
        return self.turn.back(box, self.width, self.height)
