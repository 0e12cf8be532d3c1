"""How large a picture is on paper, and how many of its pixels are kept.

Owns the judgement of resolutions in picture files and the bounds of page pictures. Never touches
pixels.

Resolutions in files are often defaults that mean nothing: cameras write 72, screenshots 96. So a
stated resolution is believed only when the page that it makes is of a plausible size. Otherwise the
long side is taken to be 11 inches (US Letter), within 72 to 400 dpi, so that a snippet does not
become a poster.
"""

from __future__ import annotations

import math
from typing import Any

from moonpress.document import Problem, ProblemCode
from moonpress.sources.base import RenderRequest

Dpi = tuple[float, float]
Size = tuple[int, int]

_ASSUMED_INCHES = 11.0
_LEAST_ASSUMED, _MOST_ASSUMED = 72.0, 400.0
_LEAST_STATED, _MOST_STATED = 50.0, 2400.0
# Below this a statement is likely a default, and must not make a page larger than A3.
_LIKELY_DEFAULT, _LONGEST_BY_DEFAULT = 97.0, 17.0
_LONGEST = 60.0
_SHORTEST = 0.5
# Fax machines write pixels up to twice as high as wide; less than this is rounding.
_SQUARE = 1.05
_LONGEST_SIDE = 32_000


def resolution_of(size: Size, stated: Any) -> Dpi:
    """Dots per inch across and down.

    Args:
        size: Width and height in pixels.
        stated: What Pillow found in the file: a pair of numbers, or nothing.
    """
    try:
        across, down = (float(value) for value in stated)
    except (TypeError, ValueError, ZeroDivisionError):
        across = down = math.nan
    if _is_plausible(size, across, down):
        return across, down
    assumed = min(max(max(size) / _ASSUMED_INCHES, _LEAST_ASSUMED), _MOST_ASSUMED)
    return assumed, assumed


def _is_plausible(size: Size, across: float, down: float) -> bool:
    if not (_LEAST_STATED <= across <= _MOST_STATED and _LEAST_STATED <= down <= _MOST_STATED):
        return False
    long_side = max(size[0] / across, size[1] / down)
    by_default = max(across, down) <= _LIKELY_DEFAULT
    return _SHORTEST <= long_side <= (_LONGEST_BY_DEFAULT if by_default else _LONGEST)


def size_in_points(size: Size, dpi: Dpi) -> tuple[float, float]:
    """Width and height of the page."""
    return 72 * size[0] / dpi[0], 72 * size[1] / dpi[1]


def fitted(size: Size, dpi: Dpi, request: RenderRequest) -> tuple[Size, tuple[Problem, ...]]:
    """Width and height of the page picture, and what to say about it.

    Pixels that are not square are made square by stretching the coarser direction.
    """
    width, height = float(size[0]), float(size[1])
    if dpi[0] > _SQUARE * dpi[1]:
        height *= dpi[0] / dpi[1]
    elif dpi[1] > _SQUARE * dpi[0]:
        width *= dpi[1] / dpi[0]
    scale = 1.0
    if request.max_image_width is not None:
        scale = min(scale, request.max_image_width / width)
    bound = min(
        math.sqrt(request.max_pixels / (width * height)), _LONGEST_SIDE / max(width, height)
    )
    problems: tuple[Problem, ...] = ()
    scale_or_bound = min(scale, bound)
    target = (
        max(1, math.floor(width * scale_or_bound + 1e-6)),
        max(1, math.floor(height * scale_or_bound + 1e-6)),
    )
    if bound < scale:
        message = f"scaled down from {size[0]} x {size[1]} to {target[0]} x {target[1]} pixels"
        problems = (Problem(ProblemCode.DOWNSCALED, message),)
    return target, problems
