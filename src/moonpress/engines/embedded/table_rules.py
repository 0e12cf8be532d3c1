"""Ruling lines of a page: drawn by a PDF, or found in the pixels of a scan.

Owns how lines are told apart, joined and clustered. Never decides what is a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.types import Box

# Where lines are looked at to see whether they show: points along each, pixels to both sides.
_SAMPLES = 16
_BESIDE = 4.0
_CONTRAST = 10


@dataclass(frozen=True, slots=True)
class Rules:
    """Lines of one area; thin boxes, collinear pieces joined."""

    horizontal: tuple[Box, ...] = ()
    vertical: tuple[Box, ...] = ()


def tolerance_of(width: int) -> float:
    """How far apart, in pixels, lines may be that are meant to meet on a page this wide."""
    return max(3.0, width / 330)


def rules_of(boxes: Iterable[Box], tolerance: float) -> Rules:
    """Sort thin boxes into horizontal and vertical lines and join the pieces of each."""
    horizontal, vertical = [], []
    for box in boxes:
        width, height = box.width, box.height
        if width > 3 * max(height, 1.0) and height <= 3 * tolerance:
            horizontal.append(box)
        elif height > 3 * max(width, 1.0) and width <= 3 * tolerance:
            vertical.append(box)
    turned = [Box(b.y0, b.x0, b.y1, b.x1) for b in vertical]
    joined = [Box(b.y0, b.x0, b.y1, b.x1) for b in _joined(turned, tolerance)]
    return Rules(tuple(_joined(horizontal, tolerance)), tuple(joined))


def _joined(lines: Sequence[Box], tolerance: float) -> list[Box]:
    """Join horizontal lines that continue each other at one height."""
    done: list[Box] = []
    for line in sorted(lines, key=lambda b: (b.x0, b.y0)):
        middle = (line.y0 + line.y1) / 2
        for index in range(len(done) - 1, -1, -1):
            other = done[index]
            if (
                abs((other.y0 + other.y1) / 2 - middle) <= tolerance
                and line.x0 <= other.x1 + tolerance
            ):
                done[index] = other.union(line)
                break
        else:
            done.append(line)
    return done


def rules_within(rules: Rules, box: Box, tolerance: float) -> Rules:
    """Those parts of lines that lie in ``box``; slivers at its edge are dropped."""
    wide = Box(box.x0 - tolerance, box.y0 - tolerance, box.x1 + tolerance, box.y1 + tolerance)

    def clip(lines: Iterable[Box], *, across: bool) -> tuple[Box, ...]:
        parts = []
        for b in lines:
            part = Box(
                max(b.x0, wide.x0), max(b.y0, wide.y0), min(b.x1, wide.x1), min(b.y1, wide.y1)
            )
            length = part.width if across else part.height
            if part.x1 >= part.x0 and part.y1 >= part.y0 and length > 3 * tolerance:
                parts.append(part)
        return tuple(parts)

    return Rules(clip(rules.horizontal, across=True), clip(rules.vertical, across=False))


def clusters(lines: Iterable[tuple[float, float]], tolerance: float, least: float) -> list[float]:
    """Positions on which lines lie, ascending.

    Args:
        lines: Position and length of each.
        tolerance: Lines this close to their neighbour count as one.
        least: Of two positions closer than this, the one with the shorter lines is dropped.
    """
    groups: list[list[tuple[float, float]]] = []
    for line in sorted(lines):
        if groups and line[0] - groups[-1][-1][0] <= tolerance:
            groups[-1].append(line)
        else:
            groups.append([line])
    kept: list[float] = []
    for group in sorted(groups, key=lambda g: -sum(length for _, length in g)):
        at = sum(position for position, _ in group) / len(group)
        if all(abs(at - other) >= least for other in kept):
            kept.append(at)
    return sorted(kept)


def drawn(boxes: Sequence[Box], pixels: npt.NDArray[np.uint8]) -> list[Box]:
    """Those thin boxes that show as lines: darker, or lighter, than what lies on both sides.

    The edges of shaded areas are among a PDF's lines; they part colours, but not cells.

    Args:
        boxes: Thin boxes in pixels.
        pixels: (H, W, 3) uint8 RGB.
    """
    if not boxes:
        return []
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.int16)
    array = np.array(boxes)
    shares = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    lying = (array[:, 2] - array[:, 0]) >= (array[:, 3] - array[:, 1])
    xs = array[:, 0, None] + (array[:, 2] - array[:, 0])[:, None] * shares
    ys = array[:, 1, None] + (array[:, 3] - array[:, 1])[:, None] * shares
    thickness = np.where(lying, array[:, 3] - array[:, 1], array[:, 2] - array[:, 0])

    def look(offset: npt.NDArray[np.float64]) -> npt.NDArray[np.int16]:
        column = np.where(lying[:, None], xs, xs + offset[:, None])
        row = np.where(lying[:, None], ys + offset[:, None], ys)
        row = np.clip(row, 0, grey.shape[0] - 1).astype(np.intp)
        column = np.clip(column, 0, grey.shape[1] - 1).astype(np.intp)
        return np.asarray(grey[row, column], dtype=np.int16)

    near = np.stack([look(np.full(len(array), d)) for d in (-1.0, 0.0, 1.0)])
    beyond = np.stack([look(s * (thickness / 2 + _BESIDE)) for s in (-1, 1)])
    dark = near.min(axis=0) < beyond.min(axis=0) - _CONTRAST
    light = near.max(axis=0) > beyond.max(axis=0) + _CONTRAST
    shown = np.maximum(dark.mean(axis=1), light.mean(axis=1)) > 0.5
    return [box for box, keep in zip(boxes, shown, strict=True) if keep]


def rules_in_pixels(pixels: npt.NDArray[np.uint8]) -> tuple[Box, ...]:
    """Find straight horizontal and vertical lines in a picture.

    Args:
        pixels: (H, W, 3) uint8 RGB of an upright, deskewed page.

    Returns:
        Thin boxes in pixels. Letters are shorter than the least length looked for; lines thicker
        than a hundredth of the page are taken for bars and left out.
    """
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    side = min(grey.shape)
    # Blurred words have straight edges of some length along the line, but not across it.
    horizontal = _straight(grey, side // 18)
    vertical = _straight(np.asarray(cv2.transpose(grey), dtype=np.uint8), side // 35)
    return (*horizontal, *(Box(b.y0, b.x0, b.y1, b.x1) for b in vertical))


def _straight(grey: npt.NDArray[np.uint8], least: int) -> list[Box]:
    """Horizontal lines of a grey picture, at least ``least`` pixels long."""
    height, width = grey.shape
    # Thin lines survive the reduction because the darkest of neighbouring pixels is kept; letters
    # must not run together along the line, so its own direction stays as it is.
    step = max(1, round(min(height, width) / 800))
    if step > 1:
        whole = height // step * step
        grey = grey[:whole].reshape(-1, step, width).min(axis=1)
    ink = cv2.adaptiveThreshold(
        grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 15, 12
    )
    # A rule that is still a little skewed crosses several rows of pixels: thicken it first.
    length = max(30, least)
    mask = cv2.dilate(ink, cv2.getStructuringElement(cv2.MORPH_RECT, (1, 3)))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    thickest = max(5, min(width, height) // (100 * step))
    return [
        Box(float(x), float(y * step), float(x + w), float((y + h) * step))
        for x, y, w, h in map(cv2.boundingRect, outlines)
        if h <= thickest
    ]
