"""Page pictures for a load test: real pages, each sent as a picture that the server has not seen.

Owns drawing them once and telling copies apart. Never sends any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from moonpress.document import EncodedPicture
from moonpress.engines.chandra.facts import PREFERRED_DPI
from moonpress.engines.chandra.picture import ImageFormat, encode
from moonpress.errors import InputError, UsageError
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source

_MAX_PIXELS = 8_000_000
_MARK = 8
_BITS = 24


class Pictures:
    """Pages in memory as pixels, given out encoded and never twice the same.

    A server may keep what it made of a picture; so every copy carries its number as black and white
    squares in its corner, 24 of them, 8 pixels wide.

    Args:
        pages: (H, W, 3) uint8 RGB each.
        form: How pictures travel.
    """

    def __init__(
        self, pages: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]], form: ImageFormat
    ) -> None:
        self._pages = pages
        self._form = form

    def __len__(self) -> int:
        """How many different pages there are."""
        return len(self._pages)

    def numbered(self, number: int) -> EncodedPicture:
        """The ``number``-th picture, from 0; takes some 20 ms of CPU."""
        page = self._pages[number % len(self._pages)].copy()
        bits = (number >> np.arange(_BITS)) & 1
        row = np.repeat(bits.astype(np.uint8) * 255, _MARK)[: page.shape[1]]
        page[:_MARK, : len(row)] = row[None, :, None]
        return encode(page, self._form, 1.0)


def draw_pages(
    inputs: Sequence[str], *, most: int, dpi: float = PREFERRED_DPI
) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
    """The first ``most`` pages of PDFs and pictures, as pixels.

    Raises:
        InputError: a file cannot be opened.
        PageError: a page cannot be drawn.
        UsageError: there is no page.
    """
    request = RenderRequest(dpi=dpi, max_pixels=_MAX_PIXELS)
    left = most
    for name in inputs:
        path = Path(name)
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        for file in files:
            try:
                source = open_source(file, name=str(file), password=None)
            except InputError:
                # In a folder there may be anything.
                if not path.is_dir():
                    raise
                continue
            try:
                for number in range(1, min(source.info.page_count, left) + 1):
                    yield source.page(number, request).pixels
                    left -= 1
            finally:
                source.close()
            if not left:
                return
    if left == most:
        raise UsageError("there are no pages to send", hint="Name PDFs or pictures")
