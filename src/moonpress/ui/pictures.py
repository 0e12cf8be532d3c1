"""Page pictures for the eye: drawn in render workers, small enough to travel.

Owns which documents are open for drawing, and how pictures are encoded. PDF libraries never run in
this process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt

from moonpress.document import EncodedPicture, PictureEncoder
from moonpress.pipeline.render import RenderedDocument, RenderPool
from moonpress.sources.base import RenderRequest, SourceInfo

THUMBNAIL_WIDTH = 200
PAGE_WIDTH = 1400
_DPI = {THUMBNAIL_WIDTH: 36.0, PAGE_WIDTH: 165.0}
_QUALITY = {THUMBNAIL_WIDTH: 70, PAGE_WIDTH: 80}
# No page may be taller than wide by more than this before it is scaled down.
_TALLEST = 4
_ENCODER = "moonpress.ui.pictures:encode"


def encode(pixels: npt.NDArray[np.uint8], quality: str) -> EncodedPicture:
    """A page picture, (H, W, 3) uint8 RGB, as JPEG; called in the process that drew it."""
    # The server itself never needs it.
    import cv2

    height, width = pixels.shape[:2]
    wanted = [cv2.IMWRITE_JPEG_QUALITY, int(quality)]
    _, data = cv2.imencode(".jpg", np.ascontiguousarray(pixels[..., ::-1]), wanted)
    return EncodedPicture(data.tobytes(), "image/jpeg", width, height)


@dataclass(slots=True)
class _Open:
    """A document that a worker has open, and how many use it now."""

    rendered: RenderedDocument
    users: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class Pictures:
    """Draws pages of papers.

    Args:
        pool: Render workers.
        most_open: Documents that are kept open; each holds a worker.
    """

    def __init__(self, pool: RenderPool, *, most_open: int) -> None:
        self._pool = pool
        self._most_open = most_open
        # In the order in which they were used last.
        self._open: dict[str, _Open] = {}

    async def open(self, key: str, path: Path, *, name: str, password: str | None) -> SourceInfo:
        """Open a document for the first time.

        Raises:
            InputError: it cannot be opened.
        """
        rendered = RenderedDocument(self._pool, path, name=name, password=password)
        try:
            await rendered.open()
        except BaseException:
            await rendered.aclose()
            raise
        self._open[key] = _Open(rendered)
        await self._close_some()
        return rendered.info

    async def draw(
        self, key: str, number: int, width: int, *, path: Path, name: str, password: str | None
    ) -> bytes:
        """A page as JPEG.

        Args:
            key: Of the document.
            number: Of the page, from 1.
            width: `THUMBNAIL_WIDTH` or `PAGE_WIDTH`, in pixels; small pages stay smaller.
            path: The file, to open it again.
            name: What the person calls it.
            password: Of an encrypted PDF.

        Raises:
            InputError: the file cannot be opened any more.
            PageError: the page cannot be drawn.
            PageRangeError: there is no such page.
        """
        one = self._open.pop(key, None)
        if one is None:
            rendered = RenderedDocument(self._pool, path, name=name, password=password)
            one = _Open(rendered)
        self._open[key] = one
        one.users += 1
        try:
            async with one.lock:
                # Only the first time after it was closed does this do anything.
                await one.rendered.open()
                image = await one.rendered.page(number, _request(width))
        finally:
            one.users -= 1
            await self._close_some()
        picture = image.picture
        if not isinstance(picture, EncodedPicture):
            raise TypeError("the render worker did not encode the page")
        return picture.data

    async def _close_some(self) -> None:
        with anyio.CancelScope(shield=True):
            idle = [key for key, one in self._open.items() if not one.users]
            for key in idle[: max(len(self._open) - self._most_open, 0)]:
                await self.forget(key)

    async def forget(self, key: str) -> None:
        """Close a document, if it is open."""
        one = self._open.pop(key, None)
        if one is not None:
            async with one.lock:
                await one.rendered.aclose()

    async def aclose(self) -> None:
        """Close all."""
        for key in list(self._open):
            await self.forget(key)


def _request(width: int) -> RenderRequest:
    return RenderRequest(
        dpi=_DPI[width],
        max_pixels=width * width * _TALLEST,
        max_image_width=width,
        encoder=PictureEncoder(_ENCODER, (("quality", str(_QUALITY[width])),)),
    )
