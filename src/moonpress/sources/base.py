"""What a source is: bytes of one file that can be drawn page by page.

Owns the `Source` protocol and the plain types around it. Never opens anything: see
`moonpress.sources.open`. Sources are synchronous and may crash or hang, so they run in a worker
process; everything here can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from moonpress.document import PageImage, PictureEncoder


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What is known of a file once it is open.

    Attributes:
        media_type: Found from its bytes, such as ``application/pdf`` or ``image/png``.
        page_count: At least 1.
        sha256: Hex digest of its bytes.
        bytes: Its length.
        title: From the PDF's information dictionary; ``None`` when absent or empty.
        author: From the PDF's information dictionary; ``None`` when absent or empty.
    """

    media_type: str
    page_count: int
    sha256: str
    bytes: int
    title: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """How a page is to be drawn.

    Attributes:
        dpi: Dots per inch for PDF pages; pictures keep the pixels they have.
        max_pixels: Bound of width x height of the page picture. What would be larger is scaled
            down, keeping its shape, and the page gets a ``downscaled`` problem.
        max_image_width: Bound of the page picture's width in pixels, or ``None``. It is the
            caller's wish, so that keeping it is no problem of the page.
        encoder: What to do with the picture before it leaves the process that drew it.
    """

    dpi: float
    max_pixels: int
    max_image_width: int | None = None
    encoder: PictureEncoder | None = None


@runtime_checkable
class Source(Protocol):
    """One open file."""

    @property
    def info(self) -> SourceInfo:
        """What is known of the file."""
        ...

    def page(self, number: int, request: RenderRequest) -> PageImage:
        """Draw one page; ``number`` counts from 1.

        Raises:
            PageUnrenderable: the page is damaged beyond drawing.
            PageTooLarge: drawing it would take more pixels than one page may have.
            MemoryError: the process may not have as much memory as the page needs.
        """
        ...

    def close(self) -> None:
        """Free the file and its memory."""
        ...
