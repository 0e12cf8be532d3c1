"""Opening what was found: every document as a local file, for as long as it is read.

Owns fetching, unpacking, and removing the copies afterwards. Blocks; callers run it in a thread.
Never finds documents (see `moonpress.sources.inputs.find`) and never looks at their content.

Members of zips and plain tars are read at their place. A compressed tar is unpacked in one pass, as
long as its members are asked for in about the order in which they were found.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from moonpress.errors import MoonpressError
from moonpress.sources.input_check import input_error
from moonpress.sources.inputs.address import (
    MemberAddress,
    archive_name,
    is_remote,
    member_address,
    path_of,
)
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.cursor import TarCursor, changed, copied
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.kinds import Archive, archive_kind
from moonpress.sources.inputs.remote import fetch
from moonpress.sources.inputs.scratch import new_file, remove
from moonpress.sources.inputs.tars import TarMembers
from moonpress.sources.inputs.zips import zip_content, zip_entries, zip_entry_at

# As many as `LocalCopies` keeps.
_CURSORS = 2


class Opener:
    """Opens items; may be used by several threads at once.

    Args:
        copies: Of remote archives; its scratch folder and limits hold for all that is opened.
    """

    def __init__(self, copies: LocalCopies) -> None:
        self._copies = copies
        self._scratch = copies.scratch
        self._limits = copies.limits
        self._cursors: OrderedDict[str, TarCursor] = OrderedDict()
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
    def opened(self, item: InputItem) -> Iterator[Path]:
        """The document as a local file: itself, or a copy that is removed after the body.

        A local file is not looked at; what is wrong with it shows when it is read.

        Raises:
            InputMissing: it is gone.
            InputUnreadable: access is refused, or the server cannot be reached.
            InputTooLarge: it is over ``limits.document_bytes``, or its archive unpacks to too much.
            InputError: of another kind.
            NoSpace: no room for the copy.
            OutputError: the copy cannot be written for another reason.
        """
        member = member_address(item.uri)
        if member is None and not is_remote(item.uri):
            yield Path(path_of(item.uri))
            return
        try:
            path = self._fetched(item.uri) if member is None else self._unpacked(member)
        except MoonpressError as error:
            error.file = item.name
            raise
        try:
            yield path
        finally:
            remove(path)

    def close(self) -> None:
        """Free archives and remove what was unpacked ahead."""
        with self._lock:
            while self._cursors:
                self._cursors.popitem()[1].close()

    def _fetched(self, address: str) -> Path:
        with new_file(self._scratch) as (path, file):
            fetch(address, file, self._limits.document_bytes, self._limits)
        return path

    def _unpacked(self, member: MemberAddress) -> Path:
        kind = archive_kind(archive_name(member.container))
        with self._copies.local(member.container) as container:
            try:
                if member.form == "zip":
                    return self._from_zip(container, member)
                if kind is None or kind in {"tar", "zip"}:
                    return self._from_tar(container, member)
                return self._cursor(container, member.container, kind).take(member.name, member.at)
            except OSError as error:
                raise input_error(error, "") from None

    def _from_zip(self, container: Path, member: MemberAddress) -> Path:
        with container.open("rb") as file:
            if member.at is not None:
                entry = zip_entry_at(file, member.at)
                if entry.name != member.name:
                    raise changed()
            else:
                named = (e for e in zip_entries(file) if e.name == member.name)
                if (first := next(named, None)) is None:
                    raise changed()
                entry = first
            with zip_content(file, entry) as content:
                return copied(content, self._scratch, self._limits.document_bytes)

    def _from_tar(self, container: Path, member: MemberAddress) -> Path:
        tar = TarMembers(container, "tar", self._limits, at=member.at or 0)
        try:
            while (found := tar.next()) is not None:
                if found.name == member.name:
                    with tar.content(found) as content:
                        return copied(content, self._scratch, self._limits.document_bytes)
                if member.at is not None:
                    break
            raise changed()
        finally:
            tar.close()

    def _cursor(self, container: Path, address: str, kind: Archive) -> TarCursor:
        with self._lock:
            cursor = self._cursors.get(address)
            # A remote archive may have been fetched anew meanwhile.
            if cursor is None or cursor.path != container:
                if cursor is not None:
                    cursor.close()
                cursor = TarCursor(container, kind, self._scratch, self._limits)
                self._cursors[address] = cursor
                while len(self._cursors) > _CURSORS:
                    self._cursors.popitem(last=False)[1].close()
            self._cursors.move_to_end(address)
            return cursor
