"""Documents as rows of numbered files, a dataset that grows file by file.

Owns when a file is full, its number, and which file has which document. A file shows only when it
is whole; beside each lies a hidden list of its ids. A document that was written anew is taken out
of the file that had it before, at the latest when the dataset is opened again, so that it is there
once. Never knows a file format: see `codec`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import orjson

from moonpress.batch.sinks.base import Stored
from moonpress.batch.sinks.codec import Codec, RowWriter
from moonpress.batch.sinks.rows import make_row
from moonpress.batch.sinks.store import Store
from moonpress.document import Document, RenderOptions
from moonpress.errors import OutputError
from moonpress.outputs.disk import output_errors

_NAME: Final = re.compile(r"part-(\d+)\.")
_LIST: Final = re.compile(r"\.part-(\d+)\.ids")


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """When a file is full, whichever comes first.

    Attributes:
        size: Bytes of texts and pictures, before compression.
        rows: Documents.
    """

    size: int
    rows: int


@dataclass(slots=True)
class _Open:
    """The file that is being filled; ``number`` is set once it is complete and has one."""

    path: Path
    writer: RowWriter
    ids: dict[str, None]
    size: int = 0
    complete: bool = False
    number: int | None = None


class ShardedSink:
    """Writes ``part-00000`` and so on.

    Several processes may write to one place, of different documents.

    Args:
        store: Where the files go.
        codec: Their format.
        formats: Texts of each row.
        options: Choices for rendering.
        limits: When a file is full.

    Raises:
        NoSpace: the disk is full.
        OutputError: what is there cannot be read or put in order.
    """

    def __init__(
        self,
        store: Store,
        codec: Codec,
        formats: Sequence[str],
        options: RenderOptions,
        limits: ShardLimits,
    ) -> None:
        self._store = store
        self._codec = codec
        self._formats = tuple(formats)
        self._options = options
        self._limits = limits
        self._open: _Open | None = None
        self._lost = False
        self._index = _Index()
        self._next = self._take_stock()
        self._store.scratch.close()

    def write(self, item_id: str, document: Document, crops: Mapping[str, Path]) -> list[Stored]:
        """Take a document; where the file before it is full, all of that are stored."""
        row = make_row(item_id, document, crops, self._formats, self._options)
        stored: list[Stored] = []
        if self._open is not None and self._is_full(self._open, item_id):
            stored = self._close(self._open)
        shard = self._open or self._begin()
        try:
            with output_errors(str(shard.path)):
                shard.writer.write(row)
        except OutputError:
            # Half a row may be in it, and nobody can take that out.
            self._give_up(shard)
            raise
        shard.ids[item_id] = None
        shard.size += row.size
        return stored

    def flush(self) -> list[Stored]:
        """Store all that was taken, and take out what it replaces.

        Raises:
            NoSpace: the disk is full.
            OutputError: something cannot be written, or could not be since the sink was made.
        """
        if self._lost:
            raise OutputError(
                "documents that were read could not be written", hint="Start the run again"
            )
        stored = [] if self._open is None else self._close(self._open)
        self._tidy()
        self._store.scratch.close()
        return stored

    def remove(self, stored: Sequence[Stored]) -> None:
        """Take documents out of the files that had them."""
        groups: dict[int, set[str]] = {}
        for entry in stored:
            found = _NAME.match(entry.location)
            if found is not None:
                groups.setdefault(int(found[1]), set()).add(entry.id)
        for number, ids in groups.items():
            self._rewrite(number, ids)
        if self._open is None:
            self._store.scratch.close()

    def _is_full(self, shard: _Open, item_id: str) -> bool:
        """A document that is taken twice has to be in two files: rows cannot be taken back."""
        limits = self._limits
        full = shard.size >= limits.size or len(shard.ids) >= limits.rows
        return full or shard.complete or item_id in shard.ids

    def _begin(self) -> _Open:
        with output_errors("a new file of the dataset"):
            path = self._store.scratch.file(self._codec.suffix)
            self._open = _Open(path, self._codec.create(path), {})
        return self._open

    def _close(self, shard: _Open) -> list[Stored]:
        """Complete a file and let it show; where that fails, the next call tries again."""
        if not shard.complete:
            try:
                with output_errors(str(shard.path)):
                    shard.writer.close()
            except OutputError:
                self._give_up(shard)
                raise
            shard.complete = True
        if shard.number is None:
            shard.number = self._claim(shard.ids)
        name = self._name(shard.number)
        self._store.publish(shard.path, name)
        self._open = None
        self._index.add(shard.number, shard.ids)
        return [Stored(item_id, name) for item_id in shard.ids]

    def _give_up(self, shard: _Open) -> None:
        """Let go of a file that cannot be completed, and of the room that it takes."""
        shard.writer.abandon()
        self._open, self._lost = None, True
        self._store.scratch.close()

    def _claim(self, ids: Iterable[str]) -> int:
        """A number that no other file has or will get."""
        data = orjson.dumps(list(ids))
        while not self._store.claim(list_name(self._next), data):
            self._next += 1
        self._next += 1
        return self._next - 1

    def _take_stock(self) -> int:
        """Learn which file has what, put it in order, and find the first free number."""
        names = self._store.names()
        numbers = [int(m[1]) for m in map(_NAME.match, names) if m and self._is_part(m.string)]
        lists = self._store.read([list_name(number) for number in numbers])
        for number in sorted(numbers):
            self._index.add(number, self._ids(number, lists.get(list_name(number))))
        self._tidy()
        claimed = [int(m[1]) for m in map(_LIST.fullmatch, names) if m]
        return max((*numbers, *claimed), default=-1) + 1

    def _tidy(self) -> None:
        for number, ids in list(self._index.replaced.items()):
            self._rewrite(number, ids)
            del self._index.replaced[number]

    def _rewrite(self, number: int, ids: AbstractSet[str]) -> None:
        """Take rows out of a file, and the file away when none is left."""
        name, listing = self._name(number), list_name(number)
        if name not in self._store.names():
            return
        listed = self._ids(number, self._store.read([listing]).get(listing))
        if ids.isdisjoint(listed):
            return
        with self._store.local(name) as old, output_errors(name):
            new = self._store.scratch.file(self._codec.suffix)
            left = self._codec.copy_without(old, new, ids)
        if left:
            self._store.publish(new, name)
            self._store.write(listing, orjson.dumps(left))
        else:
            self._store.remove(name)
            self._store.remove(listing)
        self._index.forget(number, ids)

    def _ids(self, number: int, listed: bytes | None) -> list[str]:
        if listed is not None:
            try:
                ids = orjson.loads(listed)
            except orjson.JSONDecodeError:
                ids = None
            if isinstance(ids, list):
                return ids
        name = self._name(number)
        with self._store.local(name) as file, output_errors(name):
            return self._codec.ids(file)

    def _is_part(self, name: str) -> bool:
        found = _NAME.match(name)
        return found is not None and name == self._name(int(found[1]))

    def _name(self, number: int) -> str:
        return f"part-{number:05d}{self._codec.suffix}"


class _Index:
    """Which file has a document last, and which files still have an older version.

    Attributes:
        replaced: Ids to be taken out, by the number of the file.
    """

    def __init__(self) -> None:
        self.replaced: dict[int, set[str]] = {}
        # By digest: ids are paths, and there may be millions.
        self._last: dict[bytes, int] = {}

    def add(self, number: int, ids: Iterable[str]) -> None:
        """The file of ``number``, later than all before, has ``ids``."""
        for item_id in ids:
            key = _digest(item_id)
            before = self._last.get(key)
            if before is not None and before != number:
                self.replaced.setdefault(before, set()).add(item_id)
            self._last[key] = number

    def forget(self, number: int, ids: Iterable[str]) -> None:
        """The file of ``number`` has ``ids`` no longer."""
        for item_id in ids:
            if self._last.get(_digest(item_id)) == number:
                del self._last[_digest(item_id)]


def _digest(item_id: str) -> bytes:
    return blake2b(item_id.encode(errors="surrogatepass"), digest_size=8).digest()


def list_name(number: int) -> str:
    """Name of the hidden list of ids beside the file of ``number``."""
    return f".part-{number:05d}.ids"
