"""Cheap checks of an input before any process is started for it.

Owns telling a missing file, a folder, an unreadable and an empty file apart. Never looks at the
content: see `moonpress.sources.open`.
"""

from __future__ import annotations

import errno
from pathlib import Path
from stat import S_ISREG

from moonpress.errors import (
    InputEmpty,
    InputError,
    InputMissing,
    InputNotAFile,
    InputUnreadable,
)


def check_input(source: Path | bytes, name: str) -> None:
    """Make sure that there are bytes to read.

    Args:
        source: The file, or its bytes.
        name: What the user calls it.

    Raises:
        InputMissing: no such file.
        InputNotAFile: a folder or a device.
        InputUnreadable: the operating system refuses.
        InputEmpty: no bytes.
    """
    if isinstance(source, bytes):
        size = len(source)
    else:
        try:
            status = source.stat()
            if not S_ISREG(status.st_mode):
                kind = "a folder" if source.is_dir() else "not a regular file"
                raise InputNotAFile(f"this is {kind}", file=name)
            with source.open("rb"):
                size = status.st_size
        except (OSError, ValueError) as error:
            raise input_error(error, name) from None
    if size == 0:
        raise InputEmpty("the file is empty", file=name)


def input_error(error: OSError | ValueError, name: str) -> InputError:
    """The typed error for what the operating system said about the file."""
    if isinstance(error, ValueError):
        return InputMissing("the path cannot be the name of a file", file=name)
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
        return InputMissing("no such file", file=name)
    if error.errno == errno.EISDIR:
        return InputNotAFile("this is a folder", file=name)
    return InputUnreadable((error.strerror or str(error)).lower(), file=name)
