"""A folder for each document: the sink of runs whose results people open.

Owns where a document's files lie. Never renders: see `moonpress.outputs.writer`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import orjson

from moonpress.batch.sinks.base import Stored
from moonpress.batch.sinks.store import Store, make_folder
from moonpress.document import Document, RenderOptions
from moonpress.outputs.disk import output_errors
from moonpress.outputs.figures import StoredCrops
from moonpress.outputs.targets import targets_in_folder
from moonpress.outputs.writer import write_document

# An arXiv id ends in one that is no suffix.
_SUFFIX: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_MARKER: Final = ".complete"


def stem_of(item_id: str) -> str:
    """Name of a document's files without suffix."""
    name = PurePosixPath(item_id).name
    return _SUFFIX.sub("", name) or name


class LocalFolderSink:
    """Writes ``<root>/<id>/<stem>.md`` and so on, each file whole or not at all.

    Args:
        root: An existing folder, or one to be made.
        formats: Output formats; empty for all but chunks.
        options: Choices for rendering.
    """

    def __init__(self, root: Path, formats: Sequence[str], options: RenderOptions) -> None:
        self._root = root
        self._formats = tuple(formats)
        self._options = options

    def write(self, item_id: str, document: Document, crops: Mapping[str, Path]) -> list[Stored]:
        """Store a document at once; see `moonpress.batch.sinks.base.Sink.write`."""
        folder = self._root / item_id
        with output_errors(str(folder)):
            make_folder(folder)
            _sweep(folder)
        targets = targets_in_folder(folder, stem_of(item_id), self._formats)
        write_document(document, targets, StoredCrops(crops), self._options)
        return [Stored(item_id, item_id)]

    def flush(self) -> list[Stored]:
        """Nothing is held back."""
        return []

    def remove(self, stored: Sequence[Stored]) -> None:
        """Nothing: a document that is written anew takes the place of its older version."""


class RemoteFolderSink:
    """The same behind fsspec, with ``<root>/<id>/.complete`` as the last file of each document.

    It lists the document's files. While a document is being replaced, it is not there.

    Args:
        store: Where the files go.
        formats: Output formats; empty for all but chunks.
        options: Choices for rendering.
    """

    def __init__(self, store: Store, formats: Sequence[str], options: RenderOptions) -> None:
        self._store = store
        self._formats = tuple(formats)
        self._options = options

    def write(self, item_id: str, document: Document, crops: Mapping[str, Path]) -> list[Stored]:
        """Store a document at once; see `moonpress.batch.sinks.base.Sink.write`."""
        marker = f"{item_id}/{_MARKER}"
        before = self._store.read([marker]).get(marker)
        files = self._written(item_id, document, crops)
        if before is not None:
            self._store.remove(marker)
        for name, path in files.items():
            self._store.publish(path, f"{item_id}/{name}")
        for name in _listed(before):
            if name not in files:
                self._store.remove(f"{item_id}/{name}")
        self._store.write(marker, orjson.dumps({"files": list(files)}))
        self._store.scratch.close()
        return [Stored(item_id, item_id)]

    def _written(
        self, item_id: str, document: Document, crops: Mapping[str, Path]
    ) -> dict[str, Path]:
        """The document's files in the scratch folder, by their names within its own."""
        with output_errors("the folder for unfinished files"):
            folder = self._store.scratch.file("")
        targets = targets_in_folder(folder, stem_of(item_id), self._formats)
        write_document(document, targets, StoredCrops(crops), self._options)
        return {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def flush(self) -> list[Stored]:
        """Nothing is held back."""
        return []

    def remove(self, stored: Sequence[Stored]) -> None:
        """Nothing: a document that is written anew takes the place of its older version."""


def _sweep(folder: Path) -> None:
    """Remove what a killed process left: a document is written by one process at a time."""
    for path in folder.glob(".moonpress-*.tmp"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _listed(marker: bytes | None) -> list[str]:
    """Files of the older version; none when the marker is not ours."""
    try:
        files = orjson.loads(marker or b"{}").get("files", [])
    except (orjson.JSONDecodeError, AttributeError):
        return []
    return [name for name in files if isinstance(name, str)]
