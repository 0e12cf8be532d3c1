"""The text layer as pdfium gives it, without any structure: what costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version as installed
from pathlib import Path

Read = Callable[[Path, int], str]


def create() -> Read:
    """Read text layers; pictures have none and give nothing."""
    import pypdfium2 as pdfium

    def read(path: Path, page: int) -> str:
        if path.suffix != ".pdf":
            return ""
        with pdfium.PdfDocument(path) as document:
            text: str = document[page - 1].get_textpage().get_text_range()
        # pdfium hands over UTF-16 units; letters outside the basic plane come in two halves.
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return joined.replace("\r\n", "\n").replace("\ufffe", "-").replace("\x02", "-")

    return read


def version(_python: str) -> str:
    """Version of pypdfium2."""
    return installed("pypdfium2")
