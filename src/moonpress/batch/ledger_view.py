"""Looking into a ledger while a run writes to it, or afterwards.

Owns reading: pages for the assembler, documents and counts for status and reports. Never writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moonpress.batch.entry import Entry, State, entry_of
from moonpress.batch.ledger_file import open_for_reading
from moonpress.document import Page, PageStatus
from moonpress.errors import InputMissing
from moonpress.pipeline.spool import decode_page

LEDGER_FOLDER = ".moonpress"
LEDGER_NAME = "ledger.sqlite"
_PORTION = 500


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a run is.

    Attributes:
        documents: Number of documents by state.
        selected: Pages of the documents that were opened.
        failed: Pages that could not be read, of documents whose pages are all out.
        partial: Pages read in part, likewise.
        output_tokens: Of all pages.
    """

    documents: Mapping[State, int]
    selected: int
    failed: int
    partial: int
    output_tokens: int

    @property
    def total(self) -> int:
        """All documents."""
        return sum(self.documents.values())


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page that could not be read, and where it belongs."""

    id: str
    name: str
    page: Page


def find_ledger(run: Path) -> Path:
    """The ledger that ``run`` means: itself, or that of an output folder.

    Raises:
        InputMissing: there is none.
    """
    for path in (run, run / LEDGER_NAME, run / LEDGER_FOLDER / LEDGER_NAME):
        if path.is_file():
            return path
    raise InputMissing(
        "there is no ledger of a run here",
        file=str(run),
        hint="Name the output folder of a chandra-batch run, or its ledger.sqlite",
    )


@dataclass(frozen=True, slots=True)
class RunLedgers:
    """The ledgers of a run.

    Attributes:
        paths: One, or those of the parts that have begun.
        parts: Into how many parts the documents were divided; 1 for a run that was not.
    """

    paths: tuple[Path, ...]
    parts: int = 1


def find_ledgers(run: Path) -> RunLedgers:
    """The ledgers that ``run`` means: as `find_ledger`, or those of all its parts.

    Where one place has runs that were divided in different ways, the one that wrote last counts.

    Raises:
        InputMissing: there is none.
    """
    wholes: dict[int, list[Path]] = {}
    for folder in (run, run / LEDGER_FOLDER):
        for path in folder.glob(f"part-*-of-*/{LEDGER_NAME}"):
            count = path.parent.name.rpartition("-")[2]
            if count.isdecimal():
                wholes.setdefault(int(count), []).append(path)
    try:
        alone = [find_ledger(run)]
    except InputMissing:
        if not wholes:
            raise
    else:
        wholes[1] = [*wholes.get(1, ()), *alone]
    parts = max(wholes, key=lambda count: max(map(_written, wholes[count])))
    return RunLedgers(tuple(sorted(wholes[parts])), parts)


def _written(path: Path) -> float:
    """When a ledger was written last; what is new waits in a file beside it."""
    return max(one.stat().st_mtime for one in path.parent.glob(f"{path.name}*"))


def last_run(path: Path) -> int:
    """Number of the run that wrote last, from 1."""
    with open_for_reading(path) as db:
        row = db.execute("SELECT value FROM facts WHERE name = 'run'").fetchone()
        return 0 if row is None else int(row["value"])


def fact(path: Path, name: str) -> str | None:
    """What was noted about the run under ``name``."""
    with open_for_reading(path) as db:
        row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row["value"])


def document(path: Path, key: int) -> tuple[Entry, list[Page]]:
    """A document and its kept pages, in the order of its selection."""
    with open_for_reading(path) as db:
        row = db.execute("SELECT * FROM documents WHERE key = ?", (key,)).fetchone()
        pages = db.execute("SELECT body FROM pages WHERE key = ? ORDER BY position", (key,))
        return entry_of(row), [decode_page(page["body"]) for page in pages]


def entries(path: Path, *, run: int = 0, state: State | None = None) -> Iterator[Entry]:
    """Documents that run number ``run`` or a later one met, by id; rows come in portions.

    Args:
        path: The ledger.
        run: The earliest run.
        state: Only documents that are so far; ``None`` for all.
    """
    last = ""
    while True:
        with open_for_reading(path) as db:
            rows = db.execute(
                "SELECT * FROM documents WHERE id > ? AND run >= ? AND state = ifnull(?, state) "
                "ORDER BY id LIMIT ?",
                (last, run, state, _PORTION),
            ).fetchall()
        yield from map(entry_of, rows)
        if len(rows) < _PORTION:
            return
        last = rows[-1]["id"]


def entries_of(path: Path, ids: Sequence[str], *, run: int = 0) -> list[Entry]:
    """Documents by id, of those that run number ``run`` or a later one met."""
    found: list[Entry] = []
    with open_for_reading(path) as db:
        for item_id in ids:
            row = db.execute("SELECT * FROM documents WHERE id = ? AND run >= ?", (item_id, run))
            found += map(entry_of, row)
    return found


def failed_pages(path: Path, *, run: int, most: int) -> list[FailedPage]:
    """Pages that failed in documents that run number ``run`` or a later one met, by document."""
    with open_for_reading(path) as db:
        rows = db.execute(
            "SELECT d.id, d.name, p.body FROM pages AS p JOIN documents AS d USING (key) "
            "WHERE p.status = ? AND d.run >= ? ORDER BY d.id, p.position LIMIT ?",
            (PageStatus.FAILED, run, most),
        )
        return [FailedPage(row["id"], row["name"], decode_page(row["body"])) for row in rows]


def counts(path: Path, *, run: int = 0) -> Counts:
    """How far the documents are that run number ``run`` or a later one met."""
    with open_for_reading(path) as db:
        rows = db.execute(
            "SELECT state, count(*) AS documents, total(selected) AS selected, "
            "total(failed) AS failed, total(partial) AS partial, "
            "total(output_tokens) AS output_tokens "
            "FROM documents WHERE run >= ? GROUP BY state",
            (run,),
        ).fetchall()
    return Counts(
        documents={State(row["state"]): row["documents"] for row in rows},
        selected=sum(int(row["selected"]) for row in rows),
        failed=sum(int(row["failed"]) for row in rows),
        partial=sum(int(row["partial"]) for row in rows),
        output_tokens=sum(int(row["output_tokens"]) for row in rows),
    )


def pages_out(path: Path, *, run: int = 0) -> int:
    """How many pages came out, read or failed, of documents that run ``run`` or a later one met."""
    with open_for_reading(path) as db:
        row = db.execute(
            "SELECT (SELECT total(selected) FROM documents WHERE run >= :run AND state IN "
            "(:read, :done)) + (SELECT count(*) FROM pages JOIN documents USING (key) "
            "WHERE run >= :run AND state = :reading) AS pages",
            {"run": run, "read": State.READ, "done": State.DONE, "reading": State.READING},
        ).fetchone()
        return int(row["pages"])
