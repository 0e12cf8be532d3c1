"""Temporary copies of what cannot be read where it is.

Owns making and removing them, and what a full disk means. Never decides what is copied.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from moonpress.errors import InputTooLarge, NoSpace, OutputError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def new_file(scratch: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A file of its own in the scratch folder, open for writing; removed when the body fails.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        handle, name = tempfile.mkstemp(prefix="input-", dir=scratch)
    except OSError as error:
        raise scratch_error(error) from None
    path = Path(name)
    try:
        with open(handle, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
            yield path, file
    except BaseException:
        remove(path)
        raise


def remove(path: Path) -> None:
    """Remove a temporary file; one that is gone already is no matter."""
    with suppress(OSError):
        path.unlink()


def write_chunk(target: BinaryIO, chunk: bytes) -> None:
    """Write all of it.

    Raises:
        NoSpace: the disk is full.
        OutputError: writing failed for another reason.
    """
    view = memoryview(chunk)
    try:
        while view:
            view = view[target.write(view) :]
    except OSError as error:
        raise scratch_error(error) from None


def scratch_error(error: OSError) -> OutputError:
    """The typed error for what the operating system said of the scratch folder."""
    kind = NoSpace if error.errno in _FULL else OutputError
    return kind(f"temporary files cannot be written: {(error.strerror or str(error)).lower()}")


def too_large(bound: int) -> InputTooLarge:
    """The error for what is over a bound of bytes."""
    return InputTooLarge(f"more than the {bound:,} bytes that are allowed")
