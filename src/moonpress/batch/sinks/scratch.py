"""Folders for unfinished files that vanish with the process, or at the latest with the next one.

Owns their names and locks. Never looks at what lies in them.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

_PREFIX: Final = ".moonpress-"
_SUFFIX: Final = ".scratch"
_LOCK: Final = "lock"
# Locks of other machines may not be seen here.
_GRACE_SECONDS: Final = 7 * 24 * 3600.0


class Scratch:
    """A folder of this process alone; others see by its lock that it is in use.

    It is made when it is needed, and may be closed and used again.

    Args:
        parent: An existing folder; what killed processes left in it is removed.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._folder: Path | None = None
        self._lock = -1
        _sweep(parent)

    @property
    def folder(self) -> Path:
        """The folder.

        Raises:
            OSError: it cannot be made.
        """
        if self._folder is None:
            name = f"{_PREFIX}{_machine()}-{secrets.token_hex(8)}{_SUFFIX}"
            folder = self._parent / name
            folder.mkdir(mode=0o700)
            self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            # Some file systems know no locks; then nobody removes what is left behind.
            _lock(self._lock)
            self._folder = folder
        return self._folder

    def file(self, suffix: str) -> Path:
        """A path in the folder that is not taken.

        Raises:
            OSError: the folder cannot be made.
        """
        return self.folder / f"{secrets.token_hex(8)}{suffix}"

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)
            self._folder = None


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        ours = folder.name.startswith(f"{_PREFIX}{_machine()}-")
        if _is_unlocked(folder / _LOCK) and (ours or _is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    """A mark of this machine, for names in folders that several machines share."""
    return sha256(socket.gethostname().encode()).hexdigest()[:8]


def _lock(lock: int) -> bool:
    """Whether nobody else has it, as far as the file system can tell."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_unlocked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _lock(lock)
    finally:
        os.close(lock)


def _is_old(folder: Path) -> bool:
    try:
        newest = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        return False
    return time.time() - newest > _GRACE_SECONDS
