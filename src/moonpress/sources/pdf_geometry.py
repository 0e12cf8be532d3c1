"""Where a PDF page's own coordinates lie on the page as displayed.

Owns the mapping from user space (origin anywhere, y upwards, not rotated) to fractions of the
displayed page, and the choice of the page picture's size. Never calls the PDF library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from moonpress.document import PageSize, Problem, ProblemCode
from moonpress.sources.base import RenderRequest

# OpenCV and JPEG cannot handle pictures with longer sides.
_LONGEST_SIDE = 32_000

Array = npt.NDArray[np.float64]


class Matrix(NamedTuple):
    """``x' = a x + c y + e`` and ``y' = b x + d y + f``, as in the PDF standard."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def then(self, outer: Matrix) -> Matrix:
        """The matrix that applies this one first and ``outer`` second."""
        return Matrix(
            self.a * outer.a + self.b * outer.c,
            self.a * outer.b + self.b * outer.d,
            self.c * outer.a + self.d * outer.c,
            self.c * outer.b + self.d * outer.d,
            self.e * outer.a + self.f * outer.c + outer.e,
            self.e * outer.b + self.f * outer.d + outer.f,
        )

    def apply(self, x: float, y: float) -> tuple[float, float]:
        """Map one point."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f


@dataclass(frozen=True, slots=True)
class Frame:
    """The visible part of a page.

    Attributes:
        left: Of the visible box, in user space.
        bottom: Of the visible box, in user space.
        width: Of the visible box, in user units, before rotation; greater than 0.
        height: Of the visible box, in user units, before rotation; greater than 0.
        quarter_turns: Clockwise turns by 90 degrees for display, 0 to 3.
        user_unit: Points per user unit.
    """

    left: float
    bottom: float
    width: float
    height: float
    quarter_turns: int
    user_unit: float = 1.0

    @property
    def size_pt(self) -> tuple[float, float]:
        """Width and height as displayed, in points."""
        width, height = self.width * self.user_unit, self.height * self.user_unit
        return (height, width) if self.quarter_turns % 2 else (width, height)

    @property
    def to_page(self) -> Matrix:
        """Maps user space to fractions of the displayed page, y downwards."""
        unturned = Matrix(
            a=1 / self.width,
            d=-1 / self.height,
            e=-self.left / self.width,
            f=1 + self.bottom / self.height,
        )
        turns = (
            Matrix(),
            Matrix(0, 1, -1, 0, 1, 0),
            Matrix(-1, 0, 0, -1, 1, 1),
            Matrix(0, -1, 1, 0, 0, 1),
        )
        return unturned.then(turns[self.quarter_turns])

    def boxes_to_page(self, boxes: Array) -> Array:
        """Map (N, 4) boxes left, bottom, right, top of user space to x0, y0, x1, y1 fractions.

        The results are ordered; what lies outside the page has fractions beyond 0 to 1.
        """
        m = self.to_page
        x = boxes[:, [0, 2]] * m.a + boxes[:, [1, 3]] * m.c + m.e
        y = boxes[:, [0, 2]] * m.b + boxes[:, [1, 3]] * m.d + m.f
        return np.stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)], axis=1)

    def angle_as_displayed(self, degrees: float) -> int:
        """Clockwise degrees (0 to 359) of a direction given counter-clockwise in user space."""
        return round(90 * self.quarter_turns - degrees) % 360


def picture_size(frame: Frame, request: RenderRequest) -> tuple[PageSize, tuple[Problem, ...]]:
    """Pixels for a page: what the dpi asks for, within the bounds of ``request``."""
    width_pt, height_pt = frame.size_pt
    wished = request.dpi / 72
    scale = wished
    if request.max_image_width is not None:
        scale = min(scale, request.max_image_width / width_pt)
    bound = min(
        math.sqrt(request.max_pixels / (width_pt * height_pt)),
        _LONGEST_SIDE / max(width_pt, height_pt),
    )
    problems: tuple[Problem, ...] = ()
    if bound < scale:
        scale = bound
        message = (
            f"drawn at {72 * scale:.3g} dpi instead of {request.dpi:.3g}: "
            f"the page is {width_pt / 72:.4g} x {height_pt / 72:.4g} inches"
        )
        problems = (Problem(ProblemCode.DOWNSCALED, message),)
    # A strip is as thin as a pixel and no thinner, which must not lead over the bound.
    width = max(1, min(math.floor(width_pt * scale + 0.5), request.max_pixels))
    height = max(1, min(math.floor(height_pt * scale + 0.5), request.max_pixels // width))
    return PageSize(width_pt, height_pt, width, height), problems
