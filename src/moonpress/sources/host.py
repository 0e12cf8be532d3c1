"""The object that lives in a render worker: one open source and its pages.

Owns what the parent may call by name (see `moonpress.pipeline.render`). Never limits time or
memory: the parent and the operating system do.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from moonpress.document import EncodedPicture, PageImage, PictureEncoder
from moonpress.sources.base import RenderRequest, Source, SourceInfo
from moonpress.sources.open import open_source

_STATM = Path("/proc/self/statm")


class SourceHost:
    """Holds one source; every answer says how many bytes of memory the process occupies."""

    def __init__(self) -> None:
        self._source: Source | None = None

    def open(
        self, source: Path | bytes, name: str, password: str | None, sha256: str | None
    ) -> tuple[SourceInfo, int]:
        """Open a file in place of the last; ``sha256`` is its digest where it is known."""
        self.close()
        self._source = open_source(source, name=name, password=password, sha256=sha256)
        return self._source.info, _resident()

    def page(self, number: int, request: RenderRequest) -> tuple[PageImage, int]:
        """Draw a page of the open file."""
        if self._source is None:
            raise RuntimeError("no file is open")
        image = self._source.page(number, request)
        return _encoded(image, request.encoder), _resident()

    def close(self) -> int:
        """Close the file, if one is open, so that the worker can serve another."""
        if self._source is not None:
            self._source.close()
            self._source = None
        return _resident()


def _encoded(image: PageImage, encoder: PictureEncoder | None) -> PageImage:
    """The page with its picture as a file, where that is wanted."""
    if encoder is None:
        return image
    module, _, name = encoder.function.partition(":")
    encode: Callable[..., EncodedPicture] = getattr(importlib.import_module(module), name)
    began = time.perf_counter()
    picture = encode(image.pixels, **dict(encoder.arguments))
    picture = replace(picture, seconds=time.perf_counter() - began)
    size = replace(image.size, width_px=picture.width, height_px=picture.height)
    return replace(image, picture=picture, size=size)


def _resident() -> int:
    """Bytes of resident memory, 0 where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
