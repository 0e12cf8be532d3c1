"""pymupdf4llm, AGPL: only ever run in an environment of its own, as an outside program.

Install ``pymupdf4llm<2`` there; from 2.0 on the package of that name is empty.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Read = Callable[[Path, int], str]


def create() -> Read:
    """Read PDFs with its defaults; pictures are opened as PDFs by the same library."""
    tool = import_module("pymupdf4llm")
    library = import_module("pymupdf")

    def read(path: Path, page: int) -> str:
        document = library.open(str(path))
        if not document.is_pdf:
            document = library.open("pdf", document.convert_to_pdf())
        return str(tool.to_markdown(document, pages=[page - 1], show_progress=False))

    return read


def version(python: str) -> str:
    """Version in the environment that ``python`` belongs to."""
    code = "from importlib.metadata import version; print(version('pymupdf4llm'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()
