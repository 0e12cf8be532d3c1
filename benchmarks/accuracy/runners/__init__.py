"""The engines that can be measured, one file each.

Owns the list. A runner file has ``create(**options)``, which gives a function from a path and a
1-based page number to Markdown, and ``version()``. Files of other tools import those tools only
inside ``create``: they are never dependencies of Moonpress.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Runner:
    """How to start an engine.

    Attributes:
        name: As in ``--engine``.
        module: The file of this folder.
        options: Arguments of its ``create``.
        python: Interpreter to run it with.
        licence: Of the tool, for the tables.
    """

    name: str
    module: str
    options: Mapping[str, object] = field(default_factory=dict)
    python: str = sys.executable
    licence: str = "Apache-2.0"

    @property
    def factory(self) -> str:
        """``module:callable`` for the child process."""
        return f"{__name__}.{self.module}:create"

    @property
    def source(self) -> Path:
        """The runner's own file."""
        return Path(__file__).with_name(f"{self.module}.py")

    def version(self) -> str:
        """Version of the tool, with a fingerprint of the code where that changes daily."""
        module = importlib.import_module(f"{__name__}.{self.module}")
        return str(module.version(self.python))


def runners() -> dict[str, Runner]:
    """All runners by name.

    ``MOONPRESS_PYMUPDF4LLM`` names the Python of an environment that has pymupdf4llm, and
    ``MOONPRESS_PYTHON`` that of another one that has Moonpress, such as one without OpenVINO.
    """
    embedded = "moonpress_embedded"
    own = os.environ.get("MOONPRESS_PYTHON", sys.executable)
    outside = os.environ.get("MOONPRESS_PYMUPDF4LLM", "")
    found = [
        Runner("embedded", embedded, python=own),
        Runner("embedded-fast", embedded, {"fast": True}, own),
        Runner("embedded-ocr", embedded, {"ocr": "always"}, own),
        Runner("embedded-ocr-fast", embedded, {"ocr": "always", "fast": True}, own),
        Runner("tesseract", "tesseract"),
        Runner("pdfium-text", "pdfium_text", licence="Apache-2.0 / BSD-3"),
        Runner("pymupdf4llm", "pymupdf4llm", python=outside, licence="AGPL-3.0"),
    ]
    return {runner.name: runner for runner in found}
