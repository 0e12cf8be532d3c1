"""The file under the jobs: an sqlite database with one writer.

Owns its tables, and the words for what can go wrong with it. Never knows what jobs go through: see
`moonpress.serving.jobs.store`.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import IO, Final

from moonpress import database as files
from moonpress.errors import UsageError

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    info TEXT,
    selected INTEGER,
    read INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    engine TEXT NOT NULL DEFAULT '',
    code TEXT,
    message TEXT,
    hint TEXT,
    webhook TEXT NOT NULL,
    webhook_tries INTEGER NOT NULL DEFAULT 0,
    webhook_at REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, number);
CREATE INDEX IF NOT EXISTS jobs_by_owner ON jobs (owner, number);
CREATE INDEX IF NOT EXISTS jobs_to_tell ON jobs (webhook_at) WHERE webhook = 'due';
CREATE INDEX IF NOT EXISTS jobs_by_end ON jobs (ended);
CREATE TABLE IF NOT EXISTS pages (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    serial INTEGER NOT NULL,
    number INTEGER NOT NULL,
    status TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (job, position)
);
CREATE UNIQUE INDEX IF NOT EXISTS pages_by_serial ON pages (job, serial);
CREATE TABLE IF NOT EXISTS problems (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    code TEXT NOT NULL,
    pages INTEGER NOT NULL,
    PRIMARY KEY (job, code)
);
CREATE VIEW IF NOT EXISTS shown AS SELECT *, (
    SELECT json_group_object(code, pages) FROM problems WHERE job = jobs.number
) AS problems FROM jobs;
"""
WORDS: Final = files.Words(
    noun="file of jobs",
    taken="another service",
    taken_hint="Give each service a --jobs-dir of its own",
    foreign_hint="Name another --jobs-dir",
    damaged_hint="Move it away: jobs that are not done are lost",
)


def open_for_writing(path: Path) -> tuple[sqlite3.Connection, IO[str]]:
    """The database and the claim on it; close both.

    Raises:
        UsageError: another service has it, or it is of another version, damaged, or something else.
        NoSpace: the disk is full.
        OutputError: it cannot be written.
    """
    with files.disk_errors(path, WORDS):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = files.claim(path, WORDS)
        try:
            files.keep_private(path)
            database = files.connect(path)
            try:
                _prepare(database, path)
            except BaseException:
                database.close()
                raise
        except BaseException:
            lock.close()
            raise
    return database, lock


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    files.make_durable(database)
    database.execute("PRAGMA foreign_keys = ON")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version not in {0, _VERSION}:
        raise UsageError(
            f"it is of version {version}, and this one reads {_VERSION}",
            file=str(path),
            hint=WORDS.foreign_hint,
        )
    database.executescript(_SCHEMA)
    database.execute(f"PRAGMA user_version = {_VERSION}")
