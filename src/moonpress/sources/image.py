"""Pictures, through Pillow.

Owns opening PNG, JPEG, WebP, TIFF, GIF, BMP, HEIC, AVIF and JPEG 2000 and making one RGB page
picture of each page. How pixels are converted is in `moonpress.sources.pixels`; never enlarges a
picture.

Pages. Every frame of a TIFF is a page, except reduced copies and masks. An animation (GIF, WebP,
APNG, AVIF) is one page, its first frame: that is what a viewer shows of it on paper. So is a HEIC
file: its primary picture.

Damage. A picture that ends early is read as far as it goes; what is missing is left white.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFile

from moonpress.document import PageImage, PageSize, Problem, ProblemCode
from moonpress.errors import (
    InputCorrupt,
    InputTooLarge,
    PageTooLarge,
    PageUnrenderable,
    UnsupportedInput,
)
from moonpress.sources import sniff
from moonpress.sources.base import RenderRequest, SourceInfo
from moonpress.sources.image_size import fitted, resolution_of, size_in_points
from moonpress.sources.pixels import plain_mode, share_with_content, to_rgb, upright

_FORMATS = {
    sniff.PNG: "PNG",
    sniff.JPEG: "JPEG",
    sniff.GIF: "GIF",
    sniff.WEBP: "WEBP",
    sniff.TIFF: "TIFF",
    sniff.BMP: "BMP",
    sniff.HEIC: "HEIF",
    sniff.AVIF: "AVIF",
    sniff.JPEG2000: "JPEG2000",
}
# What Pillow raises on damaged files; a MemoryError is not among them.
_DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RuntimeError,
    struct.error,
    zlib.error,
)
_SUBFILE_TYPE = 254  # TIFF tag; bit 0 marks a reduced copy, bit 2 a mask
_NOT_A_PAGE = 0b101
_BOMB = "it claims to have more pixels than can be read safely"
_BOMB_HINT = "Scale the picture down first"


class ImageSource:
    """One open picture file.

    Args:
        source: The file, or its bytes.
        name: For messages.
        kind: Its media type, one of `moonpress.sources.sniff.PICTURES`.
        sha256: Hex digest of the bytes.
        size: Number of bytes.

    Raises:
        InputCorrupt: it is damaged beyond reading.
        InputTooLarge: it claims to have more pixels than can be read safely.
        UnsupportedInput: what is needed to decode this kind is not installed.
    """

    def __init__(
        self, source: Path | bytes, *, name: str, kind: str, sha256: str, size: int
    ) -> None:
        self._name = name
        self._format = _FORMATS[kind]
        if self._format == "HEIF":
            _teach_pillow_heic(name)
        self._file: BinaryIO = (
            io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        )
        try:
            self._frames = self._find_frames()
        except BaseException:
            self._file.close()
            raise
        self._info = SourceInfo(
            media_type=kind, page_count=len(self._frames), sha256=sha256, bytes=size
        )

    @property
    def info(self) -> SourceInfo:
        """What is known of the file."""
        return self._info

    def page(self, number: int, request: RenderRequest) -> PageImage:
        """Decode one page and fit it into the bounds of ``request``.

        Raises:
            PageUnrenderable: not even a part of it can be decoded.
            PageTooLarge: it claims to have more pixels than can be read safely.
        """
        try:
            return self._page(number, request, lenient=False)
        except _DAMAGE:
            pass
        try:
            return self._page(number, request, lenient=True)
        except _DAMAGE as error:
            raise self._unrenderable(number) from error

    def close(self) -> None:
        """Free the file and its memory."""
        self._file.close()

    def _find_frames(self) -> list[int]:
        """Indexes of the frames that are pages."""
        try:
            image = self._open(lenient=False)
        except _DAMAGE:
            try:
                image = self._open(lenient=True)
            except _DAMAGE as error:
                message = "the picture is damaged beyond reading"
                raise InputCorrupt(message, file=self._name) from error
        if self._format != "TIFF":
            return [0]
        try:
            return _tiff_pages(image)
        except _DAMAGE as error:
            message = "the picture is damaged beyond reading"
            raise InputCorrupt(message, file=self._name) from error

    def _open(self, *, lenient: bool) -> Image.Image:
        self._file.seek(0)
        try:
            with _leniency(lenient=lenient):
                return Image.open(self._file, formats=[self._format])
        except Image.DecompressionBombError as error:
            raise InputTooLarge(_BOMB, file=self._name, hint=_BOMB_HINT) from error

    def _page(self, number: int, request: RenderRequest, *, lenient: bool) -> PageImage:
        image = self._open(lenient=lenient)
        if self._frames[number - 1]:
            image.seek(self._frames[number - 1])
        if image.width * image.height > 2 * (Image.MAX_IMAGE_PIXELS or 0):
            raise PageTooLarge(_BOMB, file=self._name, page=number, hint=_BOMB_HINT)
        dpi = resolution_of(image.size, image.info.get("dpi"))
        points = size_in_points(image.size, dpi)
        target, problems = fitted(image.size, dpi, request)
        image.draft(image.mode, target)
        with _leniency(lenient=lenient):
            image.load()
        drawn = plain_mode(image)
        if drawn.size != target:
            drawn = drawn.resize(target, Image.Resampling.LANCZOS, reducing_gap=2.0)
        pixels = np.array(to_rgb(drawn, image.info.get("icc_profile")))
        if lenient:
            problems = (*problems, self._patch(pixels, number))
        pixels, turned = upright(pixels, _orientation(image))
        width_pt, height_pt = reversed(points) if turned else points
        size = PageSize(width_pt, height_pt, pixels.shape[1], pixels.shape[0])
        return PageImage(number=number, picture=pixels, size=size, problems=problems)

    def _patch(self, pixels: npt.NDArray[np.uint8], number: int) -> Problem:
        """Whiten what is missing at the end of a damaged picture, in place."""
        share = share_with_content(pixels)
        if share == 0:
            raise self._unrenderable(number)
        pixels[round(share * len(pixels)) :] = 255
        message = f"the picture is damaged: about {share:.0%} of it could be read"
        return Problem(ProblemCode.PICTURE_TRUNCATED, message)

    def _unrenderable(self, number: int) -> PageUnrenderable:
        message = "the picture is damaged beyond reading"
        hint = "Fetch or export the file again"
        return PageUnrenderable(message, file=self._name, page=number, hint=hint)


@contextmanager
def _leniency(*, lenient: bool) -> Iterator[None]:
    """Whether Pillow reads damaged files as far as they go; it knows only a global switch."""
    before = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = lenient
    try:
        with warnings.catch_warnings():
            # Of large pictures (the bound is an error, not a warning) and odd metadata.
            warnings.simplefilter("ignore")
            yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before


def _tiff_pages(image: Image.Image) -> list[int]:
    pages = []
    count: int = getattr(image, "n_frames", 1)
    for index in range(count):
        image.seek(index)
        tags = getattr(image, "tag_v2", {})
        if not tags.get(_SUBFILE_TYPE, 0) & _NOT_A_PAGE:
            pages.append(index)
    # Some writers mark every page as a reduced copy.
    return pages or list(range(count))


def _orientation(image: Image.Image) -> int:
    """EXIF orientation, 1 to 8; 1 where it is absent or cannot be read."""
    try:
        value = image.getexif().get(0x0112, 1)
    except _DAMAGE:
        return 1
    return value if isinstance(value, int) else 1


def _teach_pillow_heic(name: str) -> None:
    try:
        import pi_heif
    except ImportError:
        message = "HEIC pictures need the package pi-heif, which is not installed"
        hint = "Install it with: pip install pi-heif"
        raise UnsupportedInput(message, file=name, hint=hint) from None
    pi_heif.register_heif_opener(decode_threads=1)
