"""Hyperlink annotations of a PDF page.

Owns reading them as `Link`, with ``#p7`` for page 7 of the same document. Never opens anything and
leaves out links that would run a script or reach into other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import byref, c_int, create_string_buffer
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from moonpress.document import BBox, Link
from moonpress.sources.pdf_geometry import Frame

_MOST_LINKS = 2_000
_LONGEST_HREF = 8_192
_SCRIPT = re.compile(r"(?:javascript|vbscript|data|file):", re.IGNORECASE)
_UNWANTED = re.compile(r"[\x00-\x20\x7f]+")


def read_links(document: Any, page: Any, frame: Frame) -> tuple[Link, ...]:
    """The links of a page in the order of the file.

    Args:
        document: PDFium's handle of the document.
        page: PDFium's handle of a loaded page.
        frame: Its geometry.
    """
    links = []
    for annotation in _annotations(page):
        href = _href(document, annotation)
        rectangle = pdfium.FS_RECTF()
        if href and pdfium.FPDFLink_GetAnnotRect(annotation, byref(rectangle)):
            sides = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            x0, y0, x1, y1 = frame.boxes_to_page(np.array([sides], dtype=np.float64))[0].tolist()
            if x0 < 1 and y0 < 1 and x1 > 0 and y1 > 0:
                links.append(Link(href=href, bbox=BBox.ordered(x0, y0, x1, y1)))
    return tuple(links)


def _annotations(page: Any) -> Iterator[Any]:
    position = c_int(0)
    for _ in range(_MOST_LINKS):
        link = pdfium.FPDF_LINK()
        if not pdfium.FPDFLink_Enumerate(page, byref(position), byref(link)):
            return
        yield link


def _href(document: Any, link: Any) -> str:
    """Where a link leads, or an empty string."""
    action = pdfium.FPDFLink_GetAction(link)
    kind = pdfium.FPDFAction_GetType(action) if action else pdfium.PDFACTION_UNSUPPORTED
    if kind == pdfium.PDFACTION_URI:
        return _uri(document, action)
    if kind == pdfium.PDFACTION_GOTO:
        target = pdfium.FPDFAction_GetDest(document, action)
    elif not action:
        target = pdfium.FPDFLink_GetDest(document, link)
    else:
        return ""
    index = pdfium.FPDFDest_GetDestPageIndex(document, target) if target else -1
    return f"#p{index + 1}" if index >= 0 else ""


def _uri(document: Any, action: Any) -> str:
    length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 0 < length <= _LONGEST_HREF:
        return ""
    buffer = create_string_buffer(length)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, length)
    try:
        text = buffer.value.decode()
    except UnicodeDecodeError:
        text = buffer.value.decode("latin-1")
    text = _UNWANTED.sub("", text)
    return "" if _SCRIPT.match(text) else text
