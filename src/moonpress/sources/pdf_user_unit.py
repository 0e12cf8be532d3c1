"""The size of a PDF page's unit, for pages larger than 200 inches.

Owns finding /UserUnit, for which PDFium has no call: it ignores the entry. Never guesses: what
cannot be found counts as 1/72 inch, which is right for nearly every file.
"""

from __future__ import annotations

import io
import math
import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2

_KEY = b"/UserUnit"
_ENTRY = re.compile(rb"/UserUnit\s*([0-9]*\.?[0-9]+)")
_OBJECT_STREAM = re.compile(rb"/ObjStm\b[^\0]{0,1000}?stream\r?\n")
_MOST_INFLATED = 1 << 22
_MOST_OBJECT_STREAMS = 2_000
_LARGEST = 1000.0


class UserUnits:
    """The units of the pages of one file.

    Args:
        source: The file, or its bytes.
    """

    def __init__(self, source: Path | bytes) -> None:
        self._used = _is_used(source)

    def of(self, document: Any, number: int) -> float:
        """Points per unit of page ``number`` (from 1) of an open PDFium document.

        The page is copied into a document of its own, which PDFium writes out plainly: that is
        slow, so it is done only in files that use the entry anywhere.
        """
        if not self._used:
            return 1.0
        copy, written = pypdfium2.PdfDocument.new(), io.BytesIO()
        try:
            copy.import_pages(document, [number - 1])
            copy.save(written)
        except pypdfium2.PdfiumError:
            return 1.0
        finally:
            copy.close()
        entry = _ENTRY.search(written.getvalue())
        unit = float(entry[1]) if entry else 1.0
        return unit if math.isfinite(unit) and 0 < unit <= _LARGEST else 1.0


def _is_used(source: Path | bytes) -> bool:
    if isinstance(source, bytes):
        return _mentions(source)
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _mentions(data)


def _mentions(data: bytes | mmap.mmap) -> bool:
    """Whether the entry stands in the file, plainly or in a compressed object stream."""
    return data.find(_KEY) >= 0 or any(_KEY in stream for stream in _object_streams(data))


def _object_streams(data: bytes | mmap.mmap) -> Iterator[bytes]:
    for count, found in enumerate(_OBJECT_STREAM.finditer(data)):
        if count >= _MOST_OBJECT_STREAMS:
            return
        end = data.find(b"endstream", found.end())
        try:
            body = data[found.end() : end if end >= 0 else found.end() + _MOST_INFLATED]
            yield zlib.decompressobj().decompress(body, _MOST_INFLATED)
        except zlib.error:
            continue
