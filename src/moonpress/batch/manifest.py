"""The manifest of a run: one line for each document, read or not.

Owns the rows and their order. Never judges: it copies what the ledger says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from moonpress.batch import ledger_view
from moonpress.batch.entry import Entry, State
from moonpress.outputs.disk import output_errors, sync, temporary_name

MANIFEST_NAME = "manifest.jsonl"


def write_manifest(ledger: Path, run: int, target: Path) -> None:
    """Write the documents that run number ``run`` met, ordered by id.

    Raises:
        NoSpace: the disk is full.
        OutputError: it cannot be written.
    """
    with output_errors(str(target)):
        new = temporary_name(target.parent)
        try:
            with new.open("xb") as file:
                for row in _rows(ledger, run):
                    file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                file.flush()
                os.fsync(file.fileno())
            new.replace(target)
            sync(target.parent)
        finally:
            new.unlink(missing_ok=True)


def status_of(entry: Entry) -> str:
    """``ok``, ``partial`` (some pages failed or were read in part), ``failed`` or ``pending``."""
    if entry.state is State.FAILED or (entry.selected and entry.failed == entry.selected):
        return "failed"
    if entry.state is not State.DONE:
        return "pending"
    return "partial" if entry.failed or entry.partial else "ok"


def _rows(ledger: Path, run: int) -> Iterator[dict[str, Any]]:
    for entry in ledger_view.entries(ledger, run=run):
        error = None if entry.code is None else {"code": entry.code, "message": entry.message}
        yield {
            "id": entry.item.id,
            "source": entry.item.name,
            "uri": entry.item.uri,
            "status": status_of(entry),
            "pages": entry.selected,
            "pages_failed": entry.failed,
            "pages_partial": entry.partial,
            "sha256": None if entry.info is None else entry.info.sha256,
            "output": entry.location,
            "error": error,
            "engine_seconds": round(entry.seconds, 3),
            "output_tokens": entry.output_tokens,
        }
