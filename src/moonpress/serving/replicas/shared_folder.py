"""The folder through which encoders hand pictures to decoders.

Owns where it is, and that it is gone afterwards. Never looks into it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it is private
# 17 MB a page, a few hundred pages under way.
_ENOUGH_BYTES = 8_000_000_000


@contextmanager
def shared_folder() -> Iterator[str]:
    """A folder that only this user can read, in memory where there is enough."""
    parent = None
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ENOUGH_BYTES:
        parent = str(_MEMORY)
    folder = tempfile.mkdtemp(prefix="moonpress-", dir=parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
