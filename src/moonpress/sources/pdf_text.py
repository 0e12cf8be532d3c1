"""The characters that a PDF page carries.

Owns reading PDFium's text page into a `TextLayer`. Never judges whether the text can be trusted
and never reorders it.

Boxes. PDFium knows two: the ink of a glyph, and a loose one as wide as its advance and as high as
its font. The loose one is better for finding words and lines: neighbours touch, so that a gap is a
gap, and all letters of a font in a line have the same top and bottom. But many fonts declare up to
1.4 times their size as height, so that boxes of neighbouring lines overlap: such boxes are shrunk
about the baseline to the font size. Where PDFium itself does not believe the font (symbols that
hang far below their baseline), its box is kept as it is.

Speed. A page has thousands of characters and every call into PDFium through ctypes costs about a
microsecond. So boxes are written by PDFium straight into an array, what is common to all characters
of a text object is asked once per object, and everything else is done by NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_float, c_int, c_uint, c_void_p, cast, create_string_buffer
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from moonpress.document import Font, TextLayer
from moonpress.sources.fonts import describe_font, is_surely_mono
from moonpress.sources.pdf_geometry import Array, Frame

_INVISIBLE = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
_REPLACEMENT = 0xFFFD
_HYPHEN_MARK = 0x02
_NAME_SIZE = 256
# A loose box is the font's own when its height is within this share of what the font declares.
_TOLERANCE = 0.05
# Widths of a fixed-width font's letters may differ by this share of its size: boxes are rounded.
_MONO_SPREAD = 0.02

Codes = npt.NDArray[np.uint32]
Indexes = npt.NDArray[np.intp]


class _Style(NamedTuple):
    """What the characters of one text object have in common; sizes in user units."""

    font: int
    size: float
    degrees: float  # counter-clockwise in user space
    invisible: bool
    ascent: float
    descent: float  # positive downwards


_NO_STYLE = _Style(font=-1, size=0.0, degrees=0.0, invisible=False, ascent=0.0, descent=0.0)


def read_text(page: Any, frame: Frame) -> TextLayer | None:
    """The characters of a page, or ``None`` when it has none.

    Characters that lie wholly outside the visible part of the page are left out; boxes that reach
    beyond it are cut.

    Args:
        page: PDFium's handle of a loaded page.
        frame: Its geometry.
    """
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return None
    try:
        count = pdfium.FPDFText_CountChars(text_page)
        if count <= 0:
            return None
        return _read(text_page, count, frame)
    finally:
        pdfium.FPDFText_ClosePage(text_page)


def _read(text_page: Any, count: int, frame: Frame) -> TextLayer | None:
    codes = _codes(text_page, count)
    fonts = _Fonts()
    styles, style_of = _styles(text_page, count, fonts)
    user_boxes = _loose_boxes(text_page, count)
    _trim(user_boxes, styles, style_of)

    boxes = frame.boxes_to_page(user_boxes)
    visible = ((boxes[:, :2] <= 1) & (boxes[:, 2:] >= 0)).all(axis=1)
    keep = np.flatnonzero(visible & ~_second_halves(codes))
    if not len(keep):
        return None
    codes, style_of = _joined(codes)[keep], style_of[keep]

    sizes = np.array([s.size * frame.user_unit for s in styles], dtype=np.float32)
    angles = [frame.angle_as_displayed(s.degrees) for s in styles]
    font_ids = np.array([s.font for s in styles], dtype=np.int16)[style_of]
    return TextLayer(
        text=codes.astype("<u4").tobytes().decode("utf-32-le"),
        boxes=np.clip(boxes[keep], 0, 1).astype(np.float32),
        sizes=sizes[style_of],
        fonts=_checked_mono(fonts.found, font_ids, user_boxes[keep], sizes[style_of]),
        font_ids=font_ids,
        angles=np.array(angles, dtype=np.int16)[style_of],
        invisible=np.array([s.invisible for s in styles], dtype=np.bool_)[style_of],
    )


def _direct(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A PDFium function that takes and gives plain addresses: cheaper to call than typed ones."""
    address = cast(function, c_void_p).value
    if address is None:
        raise RuntimeError("PDFium lacks a function that Moonpress needs")
    return CFUNCTYPE(result, *arguments)(address)


def _codes(text_page: Any, count: int) -> Codes:
    """UTF-16 units or code points, as PDFium gives them, made fit for a Python string."""
    get = _direct(pdfium.FPDFText_GetUnicode, c_uint, c_void_p, c_int)
    handle = cast(text_page, c_void_p).value
    codes = np.fromiter((get(handle, i) for i in range(count)), dtype=np.uint32, count=count)
    for i in np.flatnonzero(codes == _HYPHEN_MARK).tolist():
        if pdfium.FPDFText_IsHyphen(text_page, i) == 1:
            codes[i] = ord("-")
    # Zero is a glyph without a meaning; other controls come from broken encodings.
    controls = (codes < 0x20) & ~np.isin(codes, (0x09, 0x0A, 0x0D))
    codes[controls | np.isin(codes, (0xFFFE, 0xFFFF)) | (codes > 0x10FFFF)] = _REPLACEMENT
    return codes


def _second_halves(codes: Codes) -> npt.NDArray[np.bool_]:
    """Where the second unit of a surrogate pair stands."""
    second = np.zeros(len(codes), dtype=np.bool_)
    second[1:] = (codes[1:] & 0xFFFFFC00 == 0xDC00) & (codes[:-1] & 0xFFFFFC00 == 0xD800)
    return second


def _joined(codes: Codes) -> Codes:
    """Code points: pairs are joined at their first unit, halves alone replaced."""
    joined = codes.copy()
    second = np.flatnonzero(_second_halves(codes))
    joined[second - 1] = 0x10000 + ((codes[second - 1] & 0x3FF) << 10) + (codes[second] & 0x3FF)
    joined[joined & 0xFFFFF800 == 0xD800] = _REPLACEMENT
    return joined


def _loose_boxes(text_page: Any, count: int) -> Array:
    """(N, 4) left, bottom, right, top in user space."""
    get = _direct(pdfium.FPDFText_GetLooseCharBox, c_int, c_void_p, c_int, c_void_p)
    handle = cast(text_page, c_void_p).value
    boxes = np.zeros((count, 4), dtype=np.float32)
    start, step = boxes.ctypes.data, boxes.strides[0]
    for i in range(count):
        get(handle, i, start + i * step)
    # PDFium's order is left, top, right, bottom; what is not finite is nowhere.
    return np.nan_to_num(boxes[:, [0, 3, 2, 1]].astype(np.float64), nan=-1e9)


def _styles(text_page: Any, count: int, fonts: _Fonts) -> tuple[list[_Style], Indexes]:
    """The distinct styles, and for every character the index of its own."""
    get = _direct(pdfium.FPDFText_GetTextObject, c_void_p, c_void_p, c_int)
    handle = cast(text_page, c_void_p).value
    objects = np.fromiter((get(handle, i) or 0 for i in range(count)), dtype=np.uint64, count=count)
    addresses, first, style_of = np.unique(objects, return_index=True, return_inverse=True)
    styles = [
        _style(text_page, index, fonts) if address else _NO_STYLE
        for address, index in zip(addresses.tolist(), first.tolist(), strict=True)
    ]
    return styles, style_of


def _style(text_page: Any, index: int, fonts: _Fonts) -> _Style:
    """The style of the text object that the character at ``index`` belongs to."""
    text_object = pdfium.FPDFText_GetTextObject(text_page, index)
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text_page, index, byref(matrix))
    size = pdfium.FPDFText_GetFontSize(text_page, index) * math.hypot(matrix.c, matrix.d)
    font, ascent, descent = fonts.look_up(pdfium.FPDFTextObj_GetFont(text_object))
    return _Style(
        font=font,
        size=size if math.isfinite(size) else 0.0,
        degrees=math.degrees(math.atan2(matrix.b, matrix.a)),
        invisible=pdfium.FPDFTextObj_GetTextRenderMode(text_object) in _INVISIBLE,
        ascent=ascent,
        descent=descent,
    )


class _Fonts:
    """The fonts met so far on one page; PDFium often has several handles of what looks alike."""

    def __init__(self) -> None:
        self._ids: dict[Font, int] = {}
        self._known: dict[int | None, tuple[int, float, float]] = {None: (-1, 0.0, 0.0)}

    @property
    def found(self) -> list[Font]:
        """Distinct fonts by id."""
        return list(self._ids)

    def look_up(self, handle: Any) -> tuple[int, float, float]:
        """Id, ascent and descent (as shares of the font size, both positive)."""
        address = cast(handle, c_void_p).value
        if address not in self._known:
            font, ascent, descent = _describe(handle)
            self._known[address] = (self._ids.setdefault(font, len(self._ids)), ascent, descent)
        return self._known[address]


def _describe(handle: Any) -> tuple[Font, float, float]:
    name = create_string_buffer(_NAME_SIZE)
    length = pdfium.FPDFFont_GetBaseFontName(handle, name, _NAME_SIZE)
    angle, ascent, descent = c_int(), c_float(), c_float()
    pdfium.FPDFFont_GetItalicAngle(handle, byref(angle))
    pdfium.FPDFFont_GetAscent(handle, 1.0, byref(ascent))
    pdfium.FPDFFont_GetDescent(handle, 1.0, byref(descent))
    font = describe_font(
        name.value.decode(errors="replace") if 0 < length <= _NAME_SIZE else "",
        flags=max(pdfium.FPDFFont_GetFlags(handle), 0),
        weight=pdfium.FPDFFont_GetWeight(handle),
        italic_angle=angle.value,
    )
    return font, ascent.value, -descent.value


def _trim(boxes: Array, styles: list[_Style], style_of: Indexes) -> None:
    """Shrink, in place, boxes higher than the font size to it, about the baseline."""
    ascent = np.array([s.ascent for s in styles])
    descent = np.array([s.descent for s in styles])
    size = np.array([s.size for s in styles])
    declared = ascent + descent
    high = (ascent > 0) & (descent >= 0) & (declared > 1)
    above = np.where(high, size * ascent * (1 - 1 / np.maximum(declared, 1)), 0)[style_of]
    below = np.where(high, size * descent * (1 - 1 / np.maximum(declared, 1)), 0)[style_of]
    expected = (declared * size)[style_of]

    turns = np.array([s.degrees / 90 for s in styles])
    quarters = np.where(abs(turns - turns.round()) < 0.02, turns.round() % 4, -1)[style_of]
    # For each quarter turn: the sides that are the text's bottom and top, and their signs.
    for quarter, (bottom, top, upwards) in enumerate(
        ((1, 3, 1), (2, 0, -1), (3, 1, -1), (0, 2, 1))
    ):
        height = upwards * (boxes[:, top] - boxes[:, bottom])
        own = (quarters == quarter) & (abs(height - expected) <= _TOLERANCE * expected)
        boxes[own, top] -= upwards * above[own]
        boxes[own, bottom] += upwards * below[own]


def _checked_mono(
    fonts: list[Font], font_ids: npt.NDArray[np.int16], boxes: Array, sizes: npt.NDArray[np.float32]
) -> tuple[Font, ...]:
    """The fonts, without the fixed-width mark where letters differ in width."""
    widths = (boxes[:, 2] - boxes[:, 0]) / np.maximum(sizes, 1e-6)
    checked = []
    for number, font in enumerate(fonts):
        if font.mono and not is_surely_mono(font):
            own = widths[(font_ids == number) & (widths > 0)]
            low, high = np.quantile(own, (0.1, 0.9)) if len(own) else (0.0, 0.0)
            checked.append(replace(font, mono=bool(high - low <= _MONO_SPREAD)))
        else:
            checked.append(font)
    return tuple(checked)
