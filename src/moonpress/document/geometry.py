"""Boxes and sizes in the one coordinate system of the document model.

Owns `BBox` and `PageSize`. Never knows a model's own scale (0-1000 and such): engines convert.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BBox:
    """A bounding box in fractions of the page as displayed, origin top left, y downwards.

    ``0 <= x0 <= x1 <= 1`` and ``0 <= y0 <= y1 <= 1`` hold for boxes made by `from_pixels` and
    `ordered`; the bare constructor checks nothing.
    """

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def ordered(cls, x0: float, y0: float, x1: float, y1: float) -> BBox:
        """Make a box from any two opposite corners, clamped to the page."""
        left, right = sorted((min(max(x0, 0.0), 1.0), min(max(x1, 0.0), 1.0)))
        top, bottom = sorted((min(max(y0, 0.0), 1.0), min(max(y1, 0.0), 1.0)))
        return cls(left, top, right, bottom)

    @classmethod
    def from_pixels(
        cls, x0: float, y0: float, x1: float, y1: float, *, width: int, height: int
    ) -> BBox:
        """Make a box from pixel coordinates in a picture of ``width`` x ``height`` pixels."""
        return cls.ordered(x0 / width, y0 / height, x1 / width, y1 / height)

    @classmethod
    def union(cls, boxes: Iterable[BBox]) -> BBox:
        """The smallest box around all ``boxes``.

        Raises:
            ValueError: ``boxes`` is empty.
        """
        items = list(boxes)
        if not items:
            raise ValueError("union of no boxes")
        return cls(
            min(b.x0 for b in items),
            min(b.y0 for b in items),
            max(b.x1 for b in items),
            max(b.y1 for b in items),
        )

    @property
    def width(self) -> float:
        """Width as a fraction of the page's width."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height as a fraction of the page's height."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Share of the page that the box covers, 0 to 1."""
        return max(self.width, 0.0) * max(self.height, 0.0)

    def intersection(self, other: BBox) -> float:
        """Area of the overlap with ``other``, as a share of the page."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return max(width, 0.0) * max(height, 0.0)

    def to_pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Pixel box ``(left, top, right, bottom)`` that covers this box, at least 1 x 1."""
        left = min(max(int(self.x0 * width), 0), max(width - 1, 0))
        top = min(max(int(self.y0 * height), 0), max(height - 1, 0))
        right = min(max(-int(-self.x1 * width // 1), left + 1), max(width, 1))
        bottom = min(max(-int(-self.y1 * height // 1), top + 1), max(height, 1))
        return left, top, right, bottom


@dataclass(frozen=True, slots=True)
class PageSize:
    """Size of a page as displayed (after /Rotate or EXIF orientation).

    Attributes:
        width_pt: Width in PDF points (1/72 inch); for pictures derived from their dpi.
        height_pt: Height in PDF points.
        width_px: Width in pixels of the picture that the engine saw.
        height_px: Height in pixels of the picture that the engine saw.
    """

    width_pt: float
    height_pt: float
    width_px: int
    height_px: int

    @property
    def dpi(self) -> float:
        """Resolution at which the page was drawn."""
        return 72.0 * self.width_px / self.width_pt if self.width_pt > 0 else 72.0
