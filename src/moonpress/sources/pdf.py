"""PDF files, through PDFium.

Owns opening a PDF and drawing its pages with forms and annotations. Never extracts by itself: text,
objects and links have modules of their own. PDFium may crash or hang on hostile files, so this runs
in a worker process.
"""

from __future__ import annotations

from ctypes import byref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from moonpress.document import PageImage, PageSize
from moonpress.errors import (
    InputCorrupt,
    InputEmpty,
    InputError,
    PageUnrenderable,
    PasswordNeeded,
    UnsupportedInput,
)
from moonpress.sources.base import RenderRequest, SourceInfo
from moonpress.sources.pdf_geometry import Frame, picture_size
from moonpress.sources.pdf_links import read_links
from moonpress.sources.pdf_objects import read_objects
from moonpress.sources.pdf_text import read_text
from moonpress.sources.pdf_user_unit import UserUnits
from moonpress.sources.sniff import PDF

_LONGEST_METADATA = 1_000
# Annotations that carry no text of their own; all others may show words.
_TEXTLESS = frozenset({pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP})


class PdfSource:
    """One open PDF.

    Args:
        source: The file, or its bytes.
        name: For messages.
        password: User or owner password.
        sha256: Hex digest of the bytes.
        size: Number of bytes.

    Raises:
        PasswordNeeded: it is encrypted, and the password is missing or wrong.
        UnsupportedInput: it is encrypted in a way that PDFium does not know.
        InputEmpty: it has no pages.
        InputCorrupt: it is damaged beyond reading.
    """

    def __init__(
        self, source: Path | bytes, *, name: str, password: str | None, sha256: str, size: int
    ) -> None:
        self._source = source
        self._name = name
        self._password = password
        self._flattened: set[int] = set()
        self._document = self._open()
        self._user_units = UserUnits(source)
        count = len(self._document)
        if count < 1:
            raise InputEmpty("the PDF has no pages", file=name)
        self._info = SourceInfo(
            media_type=PDF,
            page_count=count,
            sha256=sha256,
            bytes=size,
            title=self._metadata("Title"),
            author=self._metadata("Author"),
        )

    @property
    def info(self) -> SourceInfo:
        """What is known of the file."""
        return self._info

    def page(self, number: int, request: RenderRequest) -> PageImage:
        """Draw one page and read what it carries.

        Raises:
            PageUnrenderable: PDFium cannot load the page.
        """
        if number in self._flattened:
            # Reading its text changed the page in memory (see `_text_layer`).
            self.close()
            self._document = self._open()
            self._flattened.clear()
        page = self._load(number)
        try:
            frame = _frame(page, self._user_units.of(self._document, number))
            size, problems = picture_size(frame, request)
            pixels = self._draw(page, size)
            objects = read_objects(page, frame)
            links = read_links(self._document, page, frame)
            worded = _has_worded_annotations(page)
            text_layer = None if worded else read_text(page, frame)
        finally:
            page.close()
        if worded:
            text_layer = self._text_with_annotations(number, frame)
        return PageImage(
            number=number,
            picture=pixels,
            size=size,
            text_layer=text_layer,
            pictures=objects.pictures,
            rulings=objects.rulings,
            links=links,
            problems=problems,
        )

    def close(self) -> None:
        """Free the file and its memory."""
        self._document.close()

    def _open(self) -> Any:
        try:
            document = pypdfium2.PdfDocument(self._source, password=self._password)
            document.init_forms()
        except pypdfium2.PdfiumError as error:
            raise self._open_error(error) from error
        return document

    def _open_error(self, error: pypdfium2.PdfiumError) -> InputError:
        code = error.err_code
        if code == pdfium.FPDF_ERR_PASSWORD:
            wrong = "the PDF is encrypted and the password is wrong"
            missing = "the PDF is encrypted and needs a password"
            return PasswordNeeded(wrong if self._password else missing, file=self._name)
        if code == pdfium.FPDF_ERR_SECURITY:
            message = "the PDF is encrypted in a way that cannot be read here"
            return UnsupportedInput(message, file=self._name, hint="Save it without encryption")
        if code == pdfium.FPDF_ERR_SUCCESS:
            # PDFium says so when it can read the structure and finds no page in it.
            return InputEmpty("the PDF has no pages", file=self._name)
        return InputCorrupt("the PDF is damaged beyond reading", file=self._name)

    def _metadata(self, key: str) -> str | None:
        text = self._document.get_metadata_value(key)
        return " ".join(text.split())[:_LONGEST_METADATA] or None

    def _load(self, number: int) -> Any:
        """A page that has an area; the caller closes it."""
        page = self._load_as_it_is(number)
        if min(page.get_size()) > 0:
            return page
        # The crop box lies outside the media box: do without it.
        page.set_cropbox(*page.get_mediabox())
        page.close()
        page = self._load_as_it_is(number)
        if min(page.get_size()) > 0:
            return page
        page.close()
        raise PageUnrenderable("the page has no area", file=self._name, page=number)

    def _load_as_it_is(self, number: int) -> Any:
        try:
            return self._document[number - 1]
        except pypdfium2.PdfiumError as error:
            message = "the page is damaged beyond drawing"
            raise PageUnrenderable(message, file=self._name, page=number) from error

    def _draw(self, page: Any, size: PageSize) -> npt.NDArray[np.uint8]:
        """The page on white, drawn by PDFium straight into the array as RGB."""
        width, height = size.width_px, size.height_px
        pixels = np.full((height, width, 3), 255, dtype=np.uint8)
        bitmap = pdfium.FPDFBitmap_CreateEx(
            width, height, pdfium.FPDFBitmap_BGR, pixels.ctypes.data, width * 3
        )
        if not bitmap:
            raise MemoryError
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        where = (bitmap, page.raw, 0, 0, width, height, 0, flags)
        try:
            pdfium.FPDF_RenderPageBitmap(*where)
            if page.formenv is not None:
                pdfium.FPDF_FFLDraw(page.formenv, *where)
        finally:
            pdfium.FPDFBitmap_Destroy(bitmap)
        return pixels

    def _text_with_annotations(self, number: int, frame: Frame) -> Any:
        """The text of a page together with what its form fields and notes show.

        PDFium's text page leaves annotations out. So they are first made part of the page's
        content, in memory only, after the page has been drawn.
        """
        page = self._load(number)
        try:
            pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
            self._flattened.add(number)
        finally:
            page.close()
        page = self._load(number)
        try:
            return read_text(page.raw, frame)
        finally:
            page.close()


def _frame(page: Any, user_unit: float) -> Frame:
    """The visible part of a page as PDFium sees it: never empty, and never NaN."""
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page.raw, byref(box))
    return Frame(
        left=box.left,
        bottom=box.bottom,
        width=box.right - box.left,
        height=box.top - box.bottom,
        quarter_turns=pdfium.FPDFPage_GetRotation(page.raw) % 4,
        user_unit=user_unit,
    )


def _has_worded_annotations(page: Any) -> bool:
    """Whether anything but links lies on the page."""
    for index in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if annotation:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            pdfium.FPDFPage_CloseAnnot(annotation)
            if kind not in _TEXTLESS:
                return True
    return False
