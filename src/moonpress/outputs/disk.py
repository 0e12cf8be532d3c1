"""Bytes to disk: whole files, and the operating system's refusals in our words.

Owns temporary names, syncing, and the translation of `OSError`. Never decides what is written.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from moonpress.errors import NoSpace, OutputError

# What `temporary_name` gives.
TEMPORARY_PATTERN: Final = ".moonpress-*.tmp"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def output_errors(what: str, *, page: int | None = None) -> Iterator[None]:
    """Raise `OSError` of the block as `NoSpace` or `OutputError` about ``what``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise NoSpace(f"cannot be written: {reason}", file=what, page=page) from error
        raise OutputError(f"cannot be written: {reason}", file=what, page=page) from error


def temporary_name(folder: Path) -> Path:
    """A hidden path in ``folder`` that nobody else uses."""
    return folder / f".moonpress-{secrets.token_hex(8)}.tmp"


def write_new(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet and wait until it is on the disk.

    Raises:
        OSError: it cannot be written; what there is of it stays.
    """
    # Not tempfile: its files are private, and results get the permissions of the user's umask.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk.

    Raises:
        OSError: the disk refuses.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all; one that is there is replaced.

    Raises:
        NoSpace: the disk is full.
        OutputError: it cannot be written.
    """
    with output_errors(str(path)):
        new = temporary_name(path.parent)
        try:
            write_new(new, data)
            new.replace(path)
            sync(path.parent)
        finally:
            new.unlink(missing_ok=True)
