"""How rows become a file: what every kind of dataset has to know.

Owns the protocols. Never decides when a file is full or where it goes: see `shards`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

from moonpress.batch.sinks.rows import Row


class RowWriter(Protocol):
    """A file that is being written; all methods raise `OSError`."""

    def write(self, row: Row) -> None:
        """Append a row."""
        ...

    def close(self) -> None:
        """Complete the file and wait until it is on the disk."""
        ...

    def abandon(self) -> None:
        """Let go of the file, complete or not; never raises."""
        ...


class Codec(Protocol):
    """A file format for rows; all methods raise `OSError`."""

    @property
    def suffix(self) -> str:
        """Of its files, with the dot."""
        ...

    def create(self, path: Path) -> RowWriter:
        """Begin a file."""
        ...

    def ids(self, path: Path) -> list[str]:
        """Ids of a complete file's rows, in order."""
        ...

    def copy_without(self, source: Path, target: Path, ids: AbstractSet[str]) -> list[str]:
        """Copy a complete file but for the rows of ``ids``; returns the ids that are left."""
        ...
