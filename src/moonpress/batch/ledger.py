"""The ledger of a run: which documents there are, how far each is, and the pages read so far.

Owns what happens to a document's row and its pages. Never reads pages, never writes outputs, never
decides what is done next: see `moonpress.batch.run`.

Pages are kept here from the moment they are read until their document is stored for good, so that a
killed run loses only what was in flight. Documents with failed pages keep theirs, so that a retry
reads only those again.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moonpress.batch.entry import Entry, PageRecord, State, entry_of
from moonpress.batch.ledger_file import disk_errors, open_for_writing
from moonpress.batch.results import Result, adopt
from moonpress.batch.sinks.base import Stored
from moonpress.document import Page, PageStatus, ProblemCode
from moonpress.errors import MoonpressError
from moonpress.pipeline.spool import encode_page
from moonpress.sources.base import SourceInfo
from moonpress.sources.inputs.address import shown
from moonpress.sources.inputs.item import InputItem

_SHARD = "shard:"
_SELECT = "SELECT * FROM documents WHERE id = ?"


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of documents that were found.

    Attributes:
        entries: Those that this run meets for the first time.
        clashes: Those whose id another document of this run has.
        replaced: Names by id of documents of earlier runs that lay elsewhere and were others: what
            is stored of them makes room.
    """

    entries: list[Entry]
    clashes: list[InputItem]
    replaced: dict[str, str]


class Ledger:
    """The one writer of a run's ledger; calls from several threads take turns.

    Args:
        path: The sqlite file; made where it is missing, its folder too.

    Raises:
        UsageError: another process has it open for writing, or it is no ledger of ours.
        NoSpace: the disk is full; so do all methods.
        OutputError: it cannot be written; so do all methods.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db, self._claim = open_for_writing(path)
        self._lock = threading.Lock()
        self.run = int(self.fact("run") or 0)

    def close(self) -> None:
        """Close the file and let others have it."""
        with self._lock:
            self._db.close()
            self._claim.close()

    def fact(self, name: str) -> str | None:
        """What was noted about the run under ``name``."""
        with self._transaction() as db:
            row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            return None if row is None else str(row["value"])

    def note(self, name: str, value: str) -> None:
        """Note something about the run."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def begin_run(self) -> int:
        """Number the run that starts now; documents that it does not meet keep older numbers."""
        self.note("run", str(self.run + 1))
        self.run += 1
        return self.run

    def admit(self, items: Sequence[InputItem], choices: str) -> Admitted:
        """Enter documents, and say how far each is; whatever this run met already is left out.

        A document that changed, or was read with other choices, starts anew; where its older
        version is stored is remembered until that is removed.

        Args:
            items: As they were found.
            choices: Digest of everything that the outputs depend on, beside the documents.
        """
        admitted = Admitted([], [], {})
        with self._transaction() as db:
            for item in items:
                # Without its secrets, such as the signature in an address.
                uri = shown(item.uri)
                wanted = (uri, item.name, item.version, _own_choices(item, choices), self.run)
                row = db.execute(_SELECT, (item.id,)).fetchone()
                if row is None:
                    db.execute(
                        "INSERT INTO documents (uri, name, version, choices, run, state, id) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (*wanted, State.WAITING, item.id),
                    )
                elif row["run"] == self.run:
                    if row["uri"] != uri:
                        admitted.clashes.append(item)
                    continue
                elif _is_as_before(row, wanted):
                    db.execute(
                        "UPDATE documents SET uri = ?, name = ?, run = ? WHERE id = ?",
                        (uri, item.name, self.run, item.id),
                    )
                else:
                    if row["uri"] != uri and row["version"] != item.version and row["location"]:
                        admitted.replaced[item.id] = row["name"]
                    _start_anew(db, row["key"], wanted)
                row = db.execute(_SELECT, (item.id,)).fetchone()
                admitted.entries.append(entry_of(row, item))
        return admitted

    def opened(self, key: int, info: SourceInfo, selected: int) -> dict[int, str]:
        """A document is open and ``selected`` of its pages are to be read.

        Returns:
            Status by position of the pages that are kept from an earlier run. They are dropped when
            the file's bytes are others now.
        """
        with self._transaction() as db:
            row = db.execute("SELECT sha256 FROM documents WHERE key = ?", (key,)).fetchone()
            if row["sha256"] not in {None, info.sha256}:
                db.execute("DELETE FROM pages WHERE key = ?", (key,))
            db.execute(
                "UPDATE documents SET state = ?, selected = ?, sha256 = ?, bytes = ?, "
                "media_type = ?, page_count = ?, title = ?, author = ? WHERE key = ?",
                (State.READING, selected, *_facts(info), key),
            )
            rows = db.execute("SELECT position, status FROM pages WHERE key = ?", (key,))
            return {row["position"]: row["status"] for row in rows}

    def record(self, pages: Sequence[PageRecord]) -> None:
        """Keep pages that came out, and what they cost."""
        rows = [
            (one.key, one.position, one.page.status, _unavailable(one.page), encode_page(one.page))
            for one in pages
        ]
        costs = [
            (one.page.usage.seconds, one.page.usage.output_tokens or 0, one.key) for one in pages
        ]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", rows)
            db.executemany(
                "UPDATE documents SET seconds = seconds + ?, output_tokens = output_tokens + ? "
                "WHERE key = ?",
                costs,
            )

    def read(self, key: int) -> Entry:
        """All pages of a document are kept; count how they ended."""
        with self._transaction() as db:
            rows = db.execute(
                "SELECT status, count(*) AS pages FROM pages WHERE key = ? GROUP BY status", (key,)
            )
            ends = {row["status"]: row["pages"] for row in rows}
            db.execute(
                "UPDATE documents SET state = ?, failed = ?, partial = ? WHERE key = ?",
                (State.READ, ends.get(PageStatus.FAILED, 0), ends.get(PageStatus.PARTIAL, 0), key),
            )
            return entry_of(db.execute("SELECT * FROM documents WHERE key = ?", (key,)).fetchone())

    def done(self, stored: Sequence[Stored]) -> list[int]:
        """Documents are stored for good; pages are kept no longer where all succeeded.

        Returns:
            Keys of the documents whose pages are kept no longer.
        """
        freed = []
        with self._transaction() as db:
            for one in stored:
                row = db.execute(_SELECT, (one.id,)).fetchone()
                db.execute(
                    "UPDATE documents SET state = ?, location = ?, finished_at = ?, "
                    "superseded = nullif(superseded, ?), code = NULL, message = NULL "
                    "WHERE key = ?",
                    (State.DONE, one.location, time.time(), one.location, row["key"]),
                )
                if not row["failed"]:
                    db.execute("DELETE FROM pages WHERE key = ?", (row["key"],))
                    freed.append(int(row["key"]))
        return freed

    def fail(self, key: int, error: MoonpressError) -> None:
        """A document failed as a whole; pages that were read are kept for another try."""
        message = f"{error.message}. {error.hint}" if error.hint else error.message
        with self._transaction() as db:
            db.execute(
                "UPDATE documents SET state = ?, code = ?, message = ?, finished_at = ? "
                "WHERE key = ?",
                (State.FAILED, error.code, message, time.time(), key),
            )

    def adopt(
        self, found: Sequence[Result], key: str | None = None, *, newer: bool = False
    ) -> list[Entry]:
        """Enter what became of documents that another ledger led.

        Args:
            found: Their results; see `moonpress.batch.results`.
            key: Name of the shard that is complete with this; see `adopted`.
            newer: Leave out results that are older than what is known.

        Returns:
            Those that this run has met and that had no end yet.
        """
        ended = []
        with self._transaction() as db:
            for one in found:
                before = db.execute(_SELECT, (one["id"],)).fetchone()
                if newer and before is not None and _is_older(one, before):
                    continue
                adopt(db, one)
                if before is not None and before["run"] == self.run and _is_open(before):
                    ended.append(entry_of(db.execute(_SELECT, (one["id"],)).fetchone()))
            if key is not None:
                db.execute("INSERT OR REPLACE INTO facts VALUES (?, '')", (_SHARD + key,))
        return ended

    def adopted(self) -> set[str]:
        """Names of the shards that were adopted as a whole."""
        with self._transaction() as db:
            rows = db.execute("SELECT name FROM facts WHERE name GLOB ?", (_SHARD + "*",))
            return {row["name"].removeprefix(_SHARD) for row in rows}

    def with_pages(self) -> set[int]:
        """Keys of the documents of which pages are kept."""
        with self._transaction() as db:
            return {row["key"] for row in db.execute("SELECT DISTINCT key FROM pages")}

    def superseded(self) -> list[Stored]:
        """Older copies of documents that are stored elsewhere anew, and not yet removed."""
        with self._transaction() as db:
            rows = db.execute(
                "SELECT id, superseded FROM documents WHERE superseded NOT NULL AND state = ?",
                (State.DONE,),
            )
            return [Stored(row["id"], row["superseded"]) for row in rows]

    def removed(self, stored: Sequence[Stored]) -> None:
        """Older copies are gone."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE documents SET superseded = NULL WHERE id = ?", [(s.id,) for s in stored]
            )

    def try_again(self, *, only_unavailable: bool) -> int:
        """Let what failed be tried again: documents as a whole, and failed pages of others.

        Args:
            only_unavailable: Only pages that failed because no engine was there.

        Returns:
            How many documents that concerns.
        """
        chosen = (PageStatus.FAILED, int(only_unavailable))
        with self._transaction() as db:
            keys = db.execute(
                "SELECT DISTINCT key FROM pages WHERE status = ? AND unavailable >= ?", chosen
            ).fetchall()
            db.execute("DELETE FROM pages WHERE status = ? AND unavailable >= ?", chosen)
            db.executemany(
                "UPDATE documents SET state = ?, superseded = coalesce(location, superseded), "
                "location = NULL WHERE key = ?",
                [(State.WAITING, row["key"]) for row in keys],
            )
            if only_unavailable:
                return len(keys)
            again = db.execute(
                "UPDATE documents SET state = ?, code = NULL, message = NULL WHERE state = ?",
                (State.WAITING, State.FAILED),
            )
            return len(keys) + again.rowcount

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, disk_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


def _facts(info: SourceInfo) -> tuple[object, ...]:
    """In the order of the columns that `Ledger.opened` sets."""
    return (info.sha256, info.bytes, info.media_type, info.page_count, info.title, info.author)


def _own_choices(item: InputItem, choices: str) -> str:
    """The choices that hold for one document; a manifest may select its pages."""
    return choices if item.pages is None else f"{choices} pages={item.pages}"


def _is_as_before(row: sqlite3.Row, wanted: tuple[object, ...]) -> bool:
    """Whether a document need not be read again; where it lies matters if nothing else tells."""
    uri, _, version, choices, _ = wanted
    same_place = version is not None or row["uri"] == uri
    return same_place and (row["version"], row["choices"]) == (version, choices)


def _start_anew(db: sqlite3.Connection, key: int, wanted: tuple[object, ...]) -> None:
    db.execute("DELETE FROM pages WHERE key = ?", (key,))
    db.execute(
        "UPDATE documents SET uri = ?, name = ?, version = ?, choices = ?, run = ?, state = ?, "
        "superseded = coalesce(location, superseded), location = NULL, selected = NULL, "
        "failed = 0, partial = 0, sha256 = NULL, code = NULL, message = NULL, seconds = 0, "
        "output_tokens = 0, finished_at = NULL WHERE key = ?",
        (*wanted, State.WAITING, key),
    )


def _is_older(result: Result, row: sqlite3.Row) -> bool:
    known = row["finished_at"]
    return known is not None and (result["finished_at"] or 0) < known


def _is_open(row: sqlite3.Row) -> bool:
    return row["state"] not in {State.DONE, State.FAILED}


def _unavailable(page: Page) -> bool:
    return any(problem.code == ProblemCode.ENGINE_UNAVAILABLE for problem in page.problems)
