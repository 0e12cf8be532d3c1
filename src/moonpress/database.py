"""An sqlite file with one writer, whatever it holds.

Owns the connection, the claim that keeps a second process from writing, and what a disk or sqlite
refuse as errors of ours. Never knows tables: see `moonpress.batch.ledger_file` and
`moonpress.serving.jobs.job_file`.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from moonpress.errors import MoonpressError, NoSpace, OutputError, UsageError

_WAIT_SECONDS: Final = 30.0
_NO_SPACE_LEFT: Final = {28, 122}


@dataclass(frozen=True, slots=True)
class Words:
    """How messages speak of a database.

    Attributes:
        noun: What it is, such as ``ledger``.
        taken: Who else writes to it, such as ``another run``.
        taken_hint: What to do then.
        foreign_hint: What to do when the file is none of ours.
        damaged_hint: What to do when it is damaged.
    """

    noun: str
    taken: str
    taken_hint: str
    foreign_hint: str
    damaged_hint: str


def keep_private(path: Path) -> None:
    """Have the file, which is made where it is missing, and those beside it for its owner alone."""
    # sqlite gives its write-ahead log the permissions of the database.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    path.chmod(0o600)


def connect(path: Path) -> sqlite3.Connection:
    """A connection for several threads that take turns; every statement is its own transaction."""
    database = sqlite3.connect(
        path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
    )
    database.row_factory = sqlite3.Row
    return database


def make_durable(database: sqlite3.Connection) -> None:
    """Readers beside the writer, and no transaction that a power cut takes back."""
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")


def claim(path: Path, words: Words) -> IO[str]:
    """A lock beside the file; the system takes it back when the process ends in any way.

    Raises:
        UsageError: another process holds it.
    """
    lock = path.with_suffix(".lock").open("a+", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip()
        lock.close()
        who = f" (process {owner})" if owner else ""
        message = f"{words.taken} writes to it{who}"
        raise UsageError(message, file=str(path), hint=words.taken_hint) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


@contextmanager
def disk_errors(path: Path, words: Words) -> Iterator[None]:
    """What the disk or sqlite refuse, as errors of ours about the file.

    Raises:
        NoSpace: the disk is full.
        UsageError: the file is damaged, or no database.
        OutputError: anything else.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, path, words) from error
    except OSError as error:
        kind = NoSpace if error.errno in _NO_SPACE_LEFT else OutputError
        raise kind(f"cannot be written: {error.strerror or error}", file=str(path)) from error


def _translated(error: sqlite3.Error, path: Path, words: Words) -> MoonpressError:
    # Extended codes have the plain one in their last byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return NoSpace("cannot be written: the disk is full", file=str(path))
    if code == sqlite3.SQLITE_NOTADB:
        return UsageError(f"this is no {words.noun}", file=str(path), hint=words.foreign_hint)
    if code == sqlite3.SQLITE_CORRUPT:
        message = f"the {words.noun} is damaged: {error}"
        return UsageError(message, file=str(path), hint=words.damaged_hint)
    return OutputError(f"the {words.noun} cannot be used: {error}", file=str(path))
