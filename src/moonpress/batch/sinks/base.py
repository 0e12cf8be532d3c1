"""The seam between a run and the places that its documents are written to.

Owns the `Sink` protocol. Never decides which document is written when: see `moonpress.batch.run`.
A sink lives in a worker process, is called from one thread, and may be killed at any moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from moonpress.document import Document


@dataclass(frozen=True, slots=True)
class Stored:
    """A document that is written so that neither a crash nor a power cut takes it away.

    Attributes:
        id: Of the document, as `moonpress.sources.inputs.item.InputItem` has it.
        location: Where it is: a folder or a file of the dataset, relative to the sink's root.
    """

    id: str
    location: str


class Sink(Protocol):
    """A place for finished documents.

    A document that was written before under the same id is replaced. Rows that a killed process
    left behind in an unfinished file do not count and are not seen by readers of the dataset.
    """

    def write(self, item_id: str, document: Document, crops: Mapping[str, Path]) -> list[Stored]:
        """Take a document.

        Args:
            item_id: Unique within the run.
            document: After all document-level passes.
            crops: Picture of each figure by block id.

        Returns:
            Documents that are stored for good now, this one or earlier ones among them.

        Raises:
            NoSpace: the disk or the quota is full.
            OutputError: writing failed for another reason.
        """
        ...

    def flush(self) -> list[Stored]:
        """Store for good what was taken and is not yet; the rest as `write`."""
        ...

    def remove(self, stored: Sequence[Stored]) -> None:
        """Take documents out again: older versions of documents that were written anew elsewhere.

        Raises:
            NoSpace: as `write`.
            OutputError: as `write`.
        """
        ...
