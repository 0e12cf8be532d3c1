"""Folders for unfinished files that vanish with the process, or at the latest with the next one.

Owns their names and locks. Never looks at what lies in them.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import Final

_PREFIX: Final = ".moonpress-"
_SUFFIX: Final = ".scratch"
_LOCK: Final = "lock"
# A folder without a lock in it may be one that is just being made.
_GRACE_SECONDS: Final = 600.0


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
            folder = self._parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
            folder.mkdir()
            self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Whether the process that made ``folder`` is gone."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        try:
            return time.time() - folder.stat().st_mtime > _GRACE_SECONDS
        except OSError:
            return False
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(lock)
