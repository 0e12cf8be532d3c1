"""The object in the worker process that turns kept pages into stored documents.

Owns what the parent may call by name. It has a process of its own because a book of 5,000 pages
takes memory, and rendering it takes time that the event loop does not have. Never writes to the
ledger: see `moonpress.batch.assembly`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moonpress.batch import ledger_view
from moonpress.batch.sinks.base import Sink, Stored
from moonpress.batch.sinks.factory import make_sink
from moonpress.document import RenderOptions
from moonpress.errors import OutputError
from moonpress.pipeline.finish import finish_document

_WITH_FIGURES = frozenset({"markdown", "html", "json"})


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """Which sink, and how it writes.

    Attributes:
        kind: As in ``--sink``.
        root: A local folder or an fsspec address.
        formats: As in ``--format``; empty for the sink's own choice.
        options: Choices for rendering.
    """

    kind: str
    root: str
    formats: tuple[str, ...]
    options: RenderOptions

    @property
    def keeps_figures(self) -> bool:
        """Whether any of the formats shows pictures."""
        return bool(set(self.formats or _WITH_FIGURES) & _WITH_FIGURES)


def crops_folder(ledger: Path, key: int) -> Path:
    """Where the figures of a document wait beside the ledger until it is stored."""
    return ledger.parent / "crops" / str(key)


class Assembler:
    """Holds one sink, of one run after the other."""

    def open(self, ledger: Path, sink: SinkSettings, engine_name: str) -> None:
        """Begin to work for a run.

        Args:
            ledger: The run's ledger, opened for reading.
            sink: Where documents go.
            engine_name: Who read the pages.

        Raises:
            UsageError: there is no such place, or nothing is installed for it.
            NoSpace: the disk is full.
            OutputError: the place cannot be made or reached.
        """
        self._ledger = ledger
        self._sink: Sink = make_sink(sink.kind, sink.root, sink.formats, sink.options)
        self._engine_name = engine_name

    def finish(self, key: int) -> list[Stored]:
        """Assemble the document of ``key`` and hand it to the sink.

        Returns:
            What is stored for good now.
        """
        entry, pages = ledger_view.document(self._ledger, key)
        if entry.info is None or len(pages) != entry.selected:
            raise OutputError(
                f"{len(pages)} of {entry.selected} pages are in the ledger", file=entry.item.name
            )
        document = finish_document(
            pages, info=entry.info, name=entry.item.name, engine_name=self._engine_name
        )
        folder = crops_folder(self._ledger, key)
        crops = {path.stem: path for path in sorted(folder.iterdir())} if folder.is_dir() else {}
        return self._sink.write(entry.item.id, document, crops)

    def flush(self) -> list[Stored]:
        """Store for good what the sink holds back."""
        return self._sink.flush()

    def remove(self, stored: Sequence[Stored]) -> None:
        """Take older copies of documents out."""
        self._sink.remove(stored)
