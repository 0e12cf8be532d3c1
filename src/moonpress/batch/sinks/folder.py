"""A folder for each document: the sink of runs whose results people open.

Owns where a document's files lie. Never renders: see `moonpress.outputs.writer`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from moonpress.batch.sinks.base import Stored
from moonpress.document import Document, RenderOptions
from moonpress.outputs.disk import TEMPORARY_PATTERN
from moonpress.outputs.figures import StoredCrops
from moonpress.outputs.targets import resolve_targets
from moonpress.outputs.writer import write_document


class FolderSink:
    """Writes ``<root>/<id>/<stem>.md`` and so on, each file whole or not at all.

    Args:
        root: An existing folder, or one to be made.
        formats: Output formats; empty for all.
        options: Choices for rendering.
    """

    def __init__(self, root: Path, formats: Sequence[str], options: RenderOptions) -> None:
        self._root = root
        self._formats = tuple(formats)
        self._options = options

    def write(self, item_id: str, document: Document, crops: Mapping[str, Path]) -> list[Stored]:
        """Store a document at once; see `moonpress.batch.sinks.base.Sink.write`."""
        folder = self._root / item_id
        name = PurePosixPath(item_id).name
        _sweep(folder)
        targets = resolve_targets(name, f"{folder}/", self._formats)
        write_document(document, targets, StoredCrops(crops), self._options)
        return [Stored(item_id, item_id)]

    def flush(self) -> list[Stored]:
        """Nothing is held back."""
        return []

    def remove(self, stored: Sequence[Stored]) -> None:
        """Nothing: a document that is written anew takes the place of its older version."""


def _sweep(folder: Path) -> None:
    """Remove what a killed run left half written; a run's lock keeps others from writing here."""
    for path in folder.glob(TEMPORARY_PATTERN) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
