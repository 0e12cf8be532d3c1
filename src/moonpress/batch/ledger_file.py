"""The file under the ledger: an sqlite database with one writer.

Owns its tables, and the words for what can go wrong with it. Never knows what documents go through:
see `moonpress.batch.ledger`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from moonpress import database as files
from moonpress.errors import InputMissing, UsageError

_VERSION: Final = "1"
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS documents (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    uri TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT,
    choices TEXT NOT NULL,
    run INTEGER NOT NULL,
    state TEXT NOT NULL,
    selected INTEGER,
    failed INTEGER NOT NULL DEFAULT 0,
    partial INTEGER NOT NULL DEFAULT 0,
    sha256 TEXT,
    bytes INTEGER,
    media_type TEXT,
    page_count INTEGER,
    title TEXT,
    author TEXT,
    location TEXT,
    superseded TEXT,
    code TEXT,
    message TEXT,
    seconds REAL NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    finished_at REAL
);
CREATE TABLE IF NOT EXISTS pages (
    key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    status TEXT NOT NULL,
    unavailable INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (key, position)
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_DAMAGED: Final = "Delete it, then all is read again, or write to another place with --output"
_NO_LEDGER: Final = f"Name another place; if it was one: {_DAMAGED[0].lower()}{_DAMAGED[1:]}"
_WORDS: Final = files.Words(
    noun="ledger",
    taken="another run",
    taken_hint="Wait for that run or stop it, or write to another place with --output",
    foreign_hint=_NO_LEDGER,
    damaged_hint=_DAMAGED,
)


def open_for_writing(path: Path) -> tuple[sqlite3.Connection, IO[str]]:
    """The database and the claim on it; closing the claim lets others write.

    Raises:
        UsageError: another process writes to it, or it is no ledger of ours.
        NoSpace: the disk is full.
        OutputError: it cannot be written.
    """
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        claim = files.claim(path, _WORDS)
        try:
            database = files.connect(path)
            _check_owner(database, path)
            # A power cut must not take back what the next step built on: figures of a document
            # are removed when it is done.
            files.make_durable(database)
            database.executescript(_SCHEMA)
            database.execute("INSERT OR IGNORE INTO facts VALUES ('version', ?)", (_VERSION,))
            _check_version(database, path)
        except BaseException:
            claim.close()
            raise
    return database, claim


@contextmanager
def open_for_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The database beside its writer, if there is one.

    Raises:
        InputMissing: there is no ledger.
        UsageError: it is no ledger of ours.
        OutputError: it cannot be read.
    """
    if not path.is_file():
        raise InputMissing("there is no ledger of a run here", file=str(path))
    with disk_errors(path):
        database = files.connect(path)
        try:
            _check_version(database, path)
            yield database
        finally:
            database.close()


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """What the disk or sqlite refuse, as errors of ours about the ledger."""
    with files.disk_errors(path, _WORDS):
        yield


def _check_owner(database: sqlite3.Connection, path: Path) -> None:
    """Tables of somebody else's database must not get ours beside them."""
    names = {row["name"] for row in database.execute("SELECT name FROM sqlite_master")}
    if names and "facts" not in names:
        raise UsageError("this database is no ledger", file=str(path), hint="Name another place")


def _check_version(database: sqlite3.Connection, path: Path) -> None:
    row = database.execute("SELECT value FROM facts WHERE name = 'version'").fetchone()
    if row is None or row["value"] != _VERSION:
        raise UsageError(
            "this ledger was written by another version of Moonpress",
            file=str(path),
            hint="Finish that run with the version that began it, or write to another place",
        )
