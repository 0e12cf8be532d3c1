"""Local copies of remote archives and lists, which have to be read out of order or more than once.

Owns fetching each once while it is in use, and how many stay on the disk. May be used by several
threads. Never unpacks anything.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from moonpress.sources.inputs.address import is_remote, path_of
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.remote import fetch
from moonpress.sources.inputs.scratch import new_file, remove

# One that is read from, and the one before it, of which documents may still be asked for.
_KEPT = 2


@dataclass(slots=True)
class _Copy:
    users: int = 0
    path: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class LocalCopies:
    """Files on this machine, whatever their address.

    Args:
        scratch: An existing folder for copies.
        limits: Bounds of what is fetched.
    """

    def __init__(self, scratch: Path, limits: Limits) -> None:
        self.scratch = scratch
        self.limits = limits
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def local(self, address: str) -> Iterator[Path]:
        """The file at an address, as a local file that stays while the body runs.

        Raises:
            InputError: it cannot be fetched, or is over ``limits.archive_bytes``.
            OutputError: the copy cannot be written.
        """
        if not is_remote(address):
            yield Path(path_of(address))
            return
        with self._lock:
            copy = self._copies.setdefault(address, _Copy())
            self._copies.move_to_end(address)
            copy.users += 1
        try:
            with copy.lock:
                if copy.path is None:
                    copy.path = self._fetched(address)
            yield copy.path
        finally:
            with self._lock:
                copy.users -= 1
                self._drop(_KEPT)

    def close(self) -> None:
        """Remove all copies that nobody uses."""
        with self._lock:
            self._drop(0)

    def _fetched(self, address: str) -> Path:
        with new_file(self.scratch) as (path, file):
            fetch(address, file, self.limits.archive_bytes, self.limits)
        return path

    def _drop(self, kept: int) -> None:
        """Forget the copies used longest ago, and those that never came to be."""
        idle = [address for address, copy in self._copies.items() if not copy.users]
        made = [address for address in idle if self._copies[address].path is not None]
        stale = set(made[: max(0, len(made) - kept)])
        for address in idle:
            path = self._copies[address].path
            if path is None or address in stale:
                del self._copies[address]
                if path is not None:
                    remove(path)
