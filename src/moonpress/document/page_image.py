"""What a source hands to an engine: one page as pixels, with what the file knows about it.

Owns `PageImage` and `TextLayer`. Never decides whether a text layer can be trusted: engines do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from moonpress.document.blocks import Link
from moonpress.document.document import Problem
from moonpress.document.geometry import BBox, PageSize

FloatArray: TypeAlias = npt.NDArray[np.float32]
Pixels: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Font:
    """A font of the text layer, as far as its name and flags tell."""

    name: str
    bold: bool = False
    italic: bool = False
    mono: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TextLayer:
    """Characters that a PDF page carries, in content order.

    All arrays have one row per character of ``text``. Surrogate pairs are joined, so ``text`` is
    proper Unicode and ``len(text)`` counts code points. Spaces and line breaks that the PDF library
    infers are included; they may have an empty box.

    Attributes:
        text: N code points.
        boxes: (N, 4) float32: x0, y0, x1, y1 of the glyph in page fractions, page as displayed.
        sizes: (N,) float32: font size in points as displayed (UserUnit and text matrix applied).
        fonts: Distinct fonts of the page.
        font_ids: (N,) int16 index into ``fonts``; -1 where unknown.
        angles: (N,) int16: direction of the text in degrees clockwise as displayed, rounded.
        invisible: (N,) bool: text render mode 3, the usual mark of an OCR layer under a scan.
    """

    text: str
    boxes: FloatArray
    sizes: FloatArray
    fonts: tuple[Font, ...]
    font_ids: npt.NDArray[np.int16]
    angles: npt.NDArray[np.int16]
    invisible: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of characters."""
        return len(self.text)


def _no_rulings() -> FloatArray:
    return np.zeros((0, 4), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class PictureEncoder:
    """Work on a page picture that is done where the page is drawn, in that process.

    An engine that sends pictures away has them encoded there: it then holds half a megabyte a page
    and not ten, and its event loop shares no core with the encoding.

    Attributes:
        function: ``"package.module:name"`` of a function that is given the pixels, (H, W, 3) uint8
            RGB, and ``arguments``, and returns an `EncodedPicture`.
        arguments: By name; picklable.
    """

    function: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPicture:
    """A page picture as a file.

    Attributes:
        data: The file.
        media_type: Such as ``image/jpeg``.
        width: Pixels.
        height: Pixels.
        blank: Whether there is nothing on the page; ``None`` when nobody looked.
        seconds: That fitting and encoding took where the page was drawn.
    """

    data: bytes
    media_type: str
    width: int
    height: int
    blank: bool | None = None
    seconds: float = 0.0

    def decoded(self) -> Pixels:
        """(H, W, 3) uint8 RGB.

        Raises:
            ValueError: the file is damaged.
        """
        import cv2

        pixels = cv2.imdecode(np.frombuffer(self.data, dtype=np.uint8), cv2.IMREAD_COLOR_RGB)
        if pixels is None:
            raise ValueError(f"this is no {self.media_type}")
        return np.asarray(pixels, dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class PageImage:
    """One page, drawn.

    Attributes:
        number: 1-based page number in the source.
        picture: (H, W, 3) uint8 RGB, page as displayed (/Rotate and EXIF applied), on white; or
            the same as a file.
        size: Size in points and pixels; the picture agrees with it.
        text_layer: Characters of the PDF page; ``None`` for pictures and pages without any.
        pictures: Boxes of raster images placed on a PDF page, page fractions.
        rulings: (M, 4) float32: straight horizontal and vertical vector lines and edges of thin
            filled rectangles, x0, y0, x1, y1 in page fractions; for table borders.
        links: Hyperlink annotations of the page.
        problems: What the source noticed (scaled down to a bound, truncated picture ...).
    """

    number: int
    picture: Pixels | EncodedPicture
    size: PageSize
    text_layer: TextLayer | None = None
    pictures: tuple[BBox, ...] = ()
    rulings: FloatArray = field(default_factory=_no_rulings)
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def pixels(self) -> Pixels:
        """(H, W, 3) uint8 RGB; decoded at every call where the picture is a file."""
        picture = self.picture
        return picture.decoded() if isinstance(picture, EncodedPicture) else picture
