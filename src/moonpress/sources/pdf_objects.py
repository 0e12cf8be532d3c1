"""Pictures and ruling lines among the graphics objects of a PDF page.

Owns walking a page's objects, also those inside form XObjects, in bounded time. Never reads text
and never looks at pixels.

Lines come in many guises: stroked paths, rectangles a point thick that are filled, and borders of
rectangles that are stroked or filled. All become horizontal or vertical lines without thickness.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_uint
from typing import Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium

from moonpress.document import BBox
from moonpress.document.page_image import FloatArray
from moonpress.sources.pdf_geometry import Frame, Matrix

# A map may have 100,000 objects; no table needs as many as these.
_MOST_OBJECTS = 30_000
_MOST_SEGMENTS = 30_000
_MOST_SEGMENTS_OF_PATH = 2_000
_MOST_RULINGS = 4_000
_MOST_PICTURES = 1_000
_DEEPEST_FORM = 8

_SHORTEST_RULING_PT = 4.0
_THICKEST_RULING_PT = 3.0
_STRAIGHT_PT = 0.6
_SMALLEST_PICTURE_PT = 3.0

_Point = tuple[float, float]
_Line = tuple[float, float, float, float]


class PageObjects(NamedTuple):
    """What was found on a page, in page fractions."""

    pictures: tuple[BBox, ...]
    rulings: FloatArray


def read_objects(page: Any, frame: Frame) -> PageObjects:
    """The raster pictures and the ruling lines of a page.

    Args:
        page: PDFium's handle of a loaded page.
        frame: Its geometry.
    """
    pictures: list[BBox] = []
    lines: list[_Line] = []
    segments_left = _MOST_SEGMENTS
    for count, (item, matrix) in enumerate(_objects(page)):
        if count >= _MOST_OBJECTS:
            break
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE and len(pictures) < _MOST_PICTURES:
            pictures.extend(_picture(item, matrix, frame))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH and segments_left > 0:
            size = pdfium.FPDFPath_CountSegments(item)
            if 2 <= size <= _MOST_SEGMENTS_OF_PATH:
                segments_left -= size
                lines.extend(_path_lines(item, size, matrix))
    return PageObjects(tuple(pictures), _rulings(lines, frame))


def _objects(page: Any) -> Iterator[tuple[Any, Matrix]]:
    """All objects with the matrix of the form they stand in; forms are entered, not given."""
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        yield from _opened(pdfium.FPDFPage_GetObject(page, index), Matrix(), 0)


def _opened(item: Any, matrix: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
    if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_FORM:
        yield item, matrix
    elif depth < _DEEPEST_FORM:
        inner = _matrix(item).then(matrix)
        for index in range(pdfium.FPDFFormObj_CountObjects(item)):
            yield from _opened(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)


def _matrix(item: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, byref(found)):
        return Matrix()
    return Matrix(found.a, found.b, found.c, found.d, found.e, found.f)


def _picture(item: Any, matrix: Matrix, frame: Frame) -> Iterator[BBox]:
    """The visible box of an image object, if there is any to speak of."""
    sides = [c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(item, *(byref(side) for side in sides)):
        return
    left, bottom, right, top = (side.value for side in sides)
    box = _box_of([(x, y) for x in (left, right) for y in (bottom, top)], matrix)
    clip = _clip_box(item, matrix)
    if clip is not None:
        box = _common(box, clip)
    # Written so that a box with NaN fails.
    wide, high = box[2] - box[0], box[3] - box[1]
    if wide * frame.user_unit >= _SMALLEST_PICTURE_PT <= high * frame.user_unit:
        x0, y0, x1, y1 = frame.boxes_to_page(np.array([box]))[0].tolist()
        if x0 < 1 and y0 < 1 and x1 > 0 and y1 > 0:
            yield BBox.ordered(x0, y0, x1, y1)


def _clip_box(item: Any, matrix: Matrix) -> _Line | None:
    """The box that all clip paths of an object leave open; ``None`` without clipping."""
    clip = pdfium.FPDFPageObj_GetClipPath(item)
    box: _Line | None = None
    for path in range(max(pdfium.FPDFClipPath_CountPaths(clip), 0)):
        size = pdfium.FPDFClipPath_CountPathSegments(clip, path)
        if not 2 <= size <= _MOST_SEGMENTS_OF_PATH:
            continue
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, path, i) for i in range(size))
        own = _box_of([_point(segment) for segment in segments], matrix)
        box = own if box is None else _common(box, own)
    return box


def _common(one: _Line, other: _Line) -> _Line:
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def _box_of(points: list[_Point], matrix: Matrix) -> _Line:
    mapped = [matrix.apply(*point) for point in points]
    xs, ys = [p[0] for p in mapped], [p[1] for p in mapped]
    return min(xs), min(ys), max(xs), max(ys)


def _point(segment: Any) -> _Point:
    x, y = c_float(), c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
    return x.value, y.value


def _path_lines(item: Any, size: int, outer: Matrix) -> Iterator[_Line]:
    """The straight lines of a path, in user space of the page."""
    fill, stroke = c_int(), c_int()
    if not pdfium.FPDFPath_GetDrawMode(item, byref(fill), byref(stroke)):
        return
    if not fill.value and not stroke.value:
        return
    matrix = _matrix(item).then(outer)
    for points, closed in _subpaths(item, size, matrix):
        if stroke.value:
            yield from _edges(points, closed=closed)
        elif (box := _rectangle(points)) is not None:
            yield from _filled(box, white=_is_white(item))


def _subpaths(item: Any, size: int, matrix: Matrix) -> Iterator[tuple[list[_Point], bool]]:
    """Runs of corners with whether they are closed; curves break a run."""
    points: list[_Point] = []
    closed = False
    for index in range(size):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        point = matrix.apply(*_point(segment))
        if kind == pdfium.FPDF_SEGMENT_LINETO and points:
            points.append(point)
            closed = closed or bool(pdfium.FPDFPathSegment_GetClose(segment))
        else:
            if len(points) > 1:
                yield points, closed
            points, closed = [point], False
    if len(points) > 1:
        yield points, closed


def _edges(points: list[_Point], *, closed: bool) -> Iterator[_Line]:
    ends = [*points[1:], points[0]] if closed else points[1:]
    for (x0, y0), (x1, y1) in zip(points, ends, strict=False):
        yield x0, y0, x1, y1


def _rectangle(points: list[_Point]) -> _Line | None:
    """The box of four corners (the first may be repeated) that stand upright, else ``None``."""
    corners = points[:-1] if len(points) == 5 else points
    if len(corners) != 4:
        return None
    xs, ys = [p[0] for p in corners], [p[1] for p in corners]
    box = min(xs), min(ys), max(xs), max(ys)
    at_corners = all(
        min(abs(x - box[0]), abs(x - box[2])) <= _STRAIGHT_PT
        and min(abs(y - box[1]), abs(y - box[3])) <= _STRAIGHT_PT
        for x, y in corners
    )
    return box if at_corners else None


def _filled(box: _Line, *, white: bool) -> Iterator[_Line]:
    """The centre line of a thin rectangle, the edges of another that is not white."""
    x0, y0, x1, y1 = box
    wide, high = x1 - x0, y1 - y0
    if high <= _THICKEST_RULING_PT and wide > 2 * high:
        yield x0, (y0 + y1) / 2, x1, (y0 + y1) / 2
    elif wide <= _THICKEST_RULING_PT and high > 2 * wide:
        yield (x0 + x1) / 2, y0, (x0 + x1) / 2, y1
    elif not white:
        yield from ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1))


def _is_white(item: Any) -> bool:
    parts = [c_uint() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetFillColor(item, *(byref(part) for part in parts)):
        return False
    red, green, blue, alpha = (part.value for part in parts)
    return alpha == 0 or min(red, green, blue) >= 0xFA


def _rulings(lines: list[_Line], frame: Frame) -> FloatArray:
    """Horizontal and vertical lines that are on the page, each once, the longest if too many."""
    if not lines:
        return np.zeros((0, 4), dtype=np.float32)
    ends = np.nan_to_num(np.array(lines), nan=-1e9, posinf=-1e9, neginf=-1e9)
    boxes = frame.boxes_to_page(ends)
    boxes = np.clip(boxes[((boxes[:, :2] <= 1) & (boxes[:, 2:] >= 0)).all(axis=1)], 0, 1)
    scale = np.array(frame.size_pt * 2)
    points = boxes * scale
    wide, high = points[:, 2] - points[:, 0], points[:, 3] - points[:, 1]
    short, length = np.minimum(wide, high), np.maximum(wide, high)
    fit = (length >= _SHORTEST_RULING_PT) & (short <= np.maximum(_STRAIGHT_PT, 0.005 * length))
    # Cells side by side draw their common edge twice: half points are close enough.
    points, first = np.unique((points[fit] * 2).round(), axis=0, return_index=True)
    boxes = boxes[fit][first]
    if len(boxes) > _MOST_RULINGS:
        longest = np.argsort(-length[fit][first], kind="stable")[:_MOST_RULINGS]
        boxes = boxes[np.sort(longest)]
    found: FloatArray = boxes.astype(np.float32)
    return found
