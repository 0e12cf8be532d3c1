"""Moonpress with its embedded engine: one reader process of one thread, kept between pages."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version as installed
from pathlib import Path

Read = Callable[[Path, int], str]
_RUNTIME = """
from importlib.metadata import distributions
found = {d.name.lower(): d.version for d in distributions()}
name = "openvino" if "openvino" in found else "onnxruntime"
print(name, found.get(name))
"""


def create(*, fast: bool = False, ocr: str = "auto") -> Read:
    """Start the engine; it ends with the process."""
    from anyio.from_thread import start_blocking_portal

    from moonpress.api import convert_async
    from moonpress.engines.registry import EngineOptions, create_engine

    stack = ExitStack()
    portal = stack.enter_context(start_blocking_portal())
    options = EngineOptions(workers=1, page_timeout=120.0, fast=fast, ocr=ocr)
    engine = create_engine("embedded", options)

    def read(path: Path, page: int, _open: ExitStack = stack) -> str:
        document = portal.call(partial(convert_async, path, engine=engine, pages=str(page)))
        (only,) = document.pages
        if only.status.value == "failed":
            raise RuntimeError("; ".join(p.message for p in only.problems) or "page failed")
        return document.to_markdown()

    return read


def version(python: str) -> str:
    """Release, digest of the source and runtime of the networks in the environment of ``python``.

    The digest makes cached readings stale when any source file changes.
    """
    import moonpress

    folder = Path(moonpress.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and "cli" not in path.parts:
            digest.update(path.read_bytes())
    asked = subprocess.run([python, "-c", _RUNTIME], capture_output=True, text=True, check=True)
    return f"{installed('moonpress')}+{digest.hexdigest()[:8]}, {asked.stdout.strip()}"
