"""What became of documents, in a form that travels between ledgers.

Owns taking results out of a ledger and putting them into another. A result is a row of the table of
documents by its column names, with the pages that failed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from moonpress.batch.entry import State
from moonpress.batch.ledger_file import open_for_reading
from moonpress.document import PageStatus

Result = dict[str, Any]

_COLUMNS: Final = (
    *("id", "uri", "name", "version", "choices", "state", "selected", "failed", "partial"),
    *("sha256", "bytes", "media_type", "page_count", "title", "author", "location"),
    *("code", "message", "seconds", "output_tokens", "finished_at"),
)
_INSERT: Final = (
    f"INSERT OR IGNORE INTO documents ({', '.join(_COLUMNS)}, run) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(':' + name for name in _COLUMNS)}, 0)"
)
_UPDATE: Final = (
    "UPDATE documents SET "  # noqa: S608 - our own names
    f"{', '.join(f'{name} = :{name}' for name in _COLUMNS if name not in {'id', 'location'})}, "
    "superseded = nullif(coalesce(superseded, location), :location), location = :location "
    "WHERE id = :id"
)


def results(path: Path, *, run: int = 0, ids: Iterable[str] | None = None) -> Iterator[Result]:
    """Documents that are done or failed, of those that run number ``run`` or a later one met.

    Args:
        path: The ledger.
        run: The earliest run.
        ids: Only these; ``None`` for all.
    """
    ended = "run >= ? AND state IN (?, ?)"
    facts = (run, State.DONE, State.FAILED)
    with open_for_reading(path) as db:
        if ids is None:
            query = f"SELECT * FROM documents WHERE {ended} ORDER BY id"  # noqa: S608 - our own words
            rows = db.execute(query, facts).fetchall()
        else:
            query = f"SELECT * FROM documents WHERE {ended} AND id = ?"  # noqa: S608 - our own words
            rows = [row for one in sorted(ids) for row in db.execute(query, (*facts, one))]
        for row in rows:
            yield {**{name: row[name] for name in _COLUMNS}, "pages": _pages(db, row)}


def adopt(db: sqlite3.Connection, result: Result) -> None:
    """Put a result into a ledger, within a transaction; the document's own state is replaced.

    Where an older copy of the document is stored is remembered until that is removed.
    """
    db.execute(_INSERT, {**result, "location": None})
    db.execute(_UPDATE, result)
    (key,) = db.execute("SELECT key FROM documents WHERE id = ?", (result["id"],)).fetchone()
    db.execute("DELETE FROM pages WHERE key = ?", (key,))
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?, ?)",
        [
            (key, place, status, lost, body.encode())
            for place, status, lost, body in result["pages"]
        ],
    )


def _pages(db: sqlite3.Connection, row: sqlite3.Row) -> list[tuple[int, str, int, str]]:
    if not row["failed"]:
        return []
    found = db.execute(
        "SELECT position, status, unavailable, body FROM pages WHERE key = ? AND status = ?",
        (row["key"], PageStatus.FAILED),
    )
    return [(p["position"], p["status"], p["unavailable"], p["body"].decode()) for p in found]
