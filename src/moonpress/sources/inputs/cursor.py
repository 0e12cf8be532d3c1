"""Members of a compressed tar, unpacked in one pass however many are asked for.

Owns the place in the archive up to which it is unpacked, and the few members that were passed on
the way and may be asked for next. Documents are read several at a time, so that members are asked
for a little out of order; going back would mean unpacking everything anew. May be used by several
threads, one at a time.
"""

from __future__ import annotations

import tarfile
import threading
from collections import OrderedDict
from pathlib import Path
from typing import IO

from moonpress.errors import InputCorrupt
from moonpress.sources.inputs.kinds import Archive, is_document
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.scratch import new_file, remove, too_large, write_chunk
from moonpress.sources.inputs.tars import TarMembers, damage

_CHUNK = 1 << 18


class TarCursor:
    """A compressed tar that is being read.

    Args:
        path: The archive, a local file.
        kind: How it is packed.
        scratch: An existing folder for what is unpacked.
        limits: ``kept_bytes`` bounds what is unpacked ahead.
    """

    def __init__(self, path: Path, kind: Archive, scratch: Path, limits: Limits) -> None:
        self.path = path
        self._kind = kind
        self._scratch = scratch
        self._limits = limits
        self._lock = threading.Lock()
        self._tar: TarMembers | None = None
        self._passed = -1
        self._kept: OrderedDict[int, tuple[str, Path, int]] = OrderedDict()
        self.passes = 0

    def take(self, name: str, at: int | None) -> Path:
        """Unpack a member into a new file, which is the caller's to remove.

        Args:
            name: Of the member.
            at: Offset of its header in the unpacked tar; looked for by name when ``None``.

        Raises:
            InputError: there is no such member, or the archive cannot be read.
            OutputError: the file cannot be written.
        """
        with self._lock:
            if at is not None and at in self._kept:
                kept_name, path, _ = self._kept.pop(at)
                if kept_name == name:
                    return path
                remove(path)
            if self._tar is None or at is None or at <= self._passed:
                self._restart()
            try:
                return self._advance(name, at)
            except BaseException:
                self._stop()
                raise

    def close(self) -> None:
        """Free the archive, and remove what nobody asked for."""
        with self._lock:
            self._stop()
            for _, path, _ in self._kept.values():
                remove(path)
            self._kept.clear()

    def _restart(self) -> None:
        self._stop()
        self._tar = TarMembers(self.path, self._kind, self._limits)
        self.passes += 1

    def _stop(self) -> None:
        if self._tar is not None:
            self._tar.close()
        self._tar, self._passed = None, -1

    def _advance(self, name: str, at: int | None) -> Path:
        """Go on to the member, keeping those shortly before it."""
        tar = self._tar
        while tar is not None and (found := tar.next()) is not None:
            self._passed = found.offset
            if at is None and found.name == name:
                return self._unpack(tar, found)
            if at is None:
                continue
            if found.offset == at and found.name == name:
                return self._unpack(tar, found)
            if found.offset >= at:
                break
            bound = self._limits.kept_bytes
            near = at - found.offset <= bound and found.size <= bound
            if near and found.isreg() and is_document(found.name):
                self._keep(found, self._unpack(tar, found))
        raise changed()

    def _keep(self, member: tarfile.TarInfo, path: Path) -> None:
        self._kept[member.offset] = (member.name, path, member.size)
        while sum(size for _, _, size in self._kept.values()) > self._limits.kept_bytes:
            _, (_, oldest, _) = self._kept.popitem(last=False)
            remove(oldest)

    def _unpack(self, tar: TarMembers, member: tarfile.TarInfo) -> Path:
        with tar.content(member) as content:
            return copied(content, self._scratch, self._limits.document_bytes)


def copied(content: IO[bytes], scratch: Path, bound: int) -> Path:
    """Copy what is unpacked into a new file in the scratch folder.

    Raises:
        InputTooLarge: it is over the bound.
        InputError: it is damaged.
        OutputError: the file cannot be written.
    """
    with new_file(scratch) as (path, file):
        size = 0
        while True:
            with damage():
                chunk = content.read(_CHUNK)
            if not chunk:
                return path
            size += len(chunk)
            if size > bound:
                raise too_large(bound)
            write_chunk(file, chunk)


def changed() -> InputCorrupt:
    """The error for a member that is not where it was."""
    return InputCorrupt(
        "the archive has no such member, or has changed since it was listed",
        hint="Start again when nobody writes to it",
    )
