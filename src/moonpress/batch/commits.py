"""Shards that are done: each once, whoever read it and however often.

Owns ``done/SHARD``, which is made exclusively and whole; what it says counts, and nothing else. It
holds the results of the shard's documents and, for datasets, under which names its files are to be
seen. Files wait in a hidden folder of the output until then; who finds them still there puts them
into place. Never reads a document.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from moonpress.batch.leases import Lease, is_current
from moonpress.batch.results import Result
from moonpress.batch.sinks.shards import list_name
from moonpress.batch.sinks.store import open_store
from moonpress.outputs.disk import output_errors

_HIDDEN: Final = ".moonpress"
_WAITING: Final = f"{_HIDDEN}/waiting"
_NUMBER: Final = re.compile(r"\.?part-(\d+)\.")
_VERSION: Final = 1
_READ_AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Record:
    """A shard that is done.

    Attributes:
        key: Its name.
        at: When, in seconds since 1970.
        files: Where files of the dataset waited, and the names that they are to have.
        results: What became of its documents.
    """

    key: str
    at: float
    files: Mapping[str, str]
    results: Sequence[Result]


class Commits:
    """The shards that are done in one output place; calls block.

    Args:
        root: The output place: a local folder or an address.
    """

    def __init__(self, root: str) -> None:
        self._root = open_store(root)
        self._waiting = open_store(f"{root}/{_WAITING}")
        self._done = open_store(f"{root}/{_HIDDEN}/done")
        self.leases = open_store(f"{root}/{_HIDDEN}/leases")

    def close(self) -> None:
        """Remove what was needed for writing."""
        for store in (self._root, self._waiting, self._done, self.leases):
            store.scratch.close()

    def done(self) -> list[str]:
        """Names of all shards that are done."""
        return [name for name in self._done.names() if not name.startswith(".")]

    def record(self, key: str) -> Record | None:
        """What a shard's worker left, with its files in place; ``None`` when it is not done."""
        return next(self.records([key]), None)

    def records(self, keys: Sequence[str]) -> Iterator[Record]:
        """The same for many, some at a time; those that are not done are left out."""
        for start in range(0, len(keys), _READ_AT_ONCE):
            found = self._done.read(keys[start : start + _READ_AT_ONCE])
            for key, data in found.items():
                facts = orjson.loads(data)
                record = Record(key, facts["at"], facts["files"], facts["results"])
                self._settle(record)
                yield record

    def commit(
        self,
        lease: Lease,
        results: Sequence[Result],
        files: Sequence[tuple[Path, list[str]]],
        known: Sequence[Result] = (),
    ) -> Record | None:
        """Say that a shard is done, and let its files show.

        Args:
            lease: For the shard.
            results: What became of its documents; ``location`` names a file of ``files``.
            files: Complete files of the dataset, each with the ids of its rows.
            known: Results of the shard's documents that were stored before.

        Returns:
            ``None`` when another has the lease now, or has done the shard.

        Raises:
            NoSpace: the disk is full.
            OutputError: it cannot be written.
        """
        names: dict[str, str] = {}
        waiting: dict[str, str] = {}
        for path, ids in files:
            hidden = f"{lease.token}-{path.name}"
            self._put(path, hidden)
            names[path.name] = self._free_name(path, ids)
            waiting[hidden] = names[path.name]
        moved = [{**one, "location": _moved(one["location"], names)} for one in results]
        record = Record(lease.key, time.time(), waiting, [*known, *moved])
        if is_current(self.leases, lease) and self._claim(record):
            self._settle(record)
            return record
        for hidden, name in waiting.items():
            self._waiting.remove(hidden)
            self._root.remove(list_name(_number(name)))
        return None

    def sweep(self) -> None:
        """Remove files of workers that died before they could say that their shard is done."""
        done = set(self.done())
        for name in self._waiting.names():
            key = name.partition(".")[0]
            if key in done:
                # Its own file, if it has one here, is put into place by this.
                self.record(key)
                self._waiting.remove(name)

    def _claim(self, record: Record) -> bool:
        data = _encoded(record)
        if self._done.claim(record.key, data):
            return True
        # A request that was sent twice is refused because of its own success.
        return self._done.read([record.key]).get(record.key) == data

    def _put(self, path: Path, name: str) -> None:
        """Copy a file of this machine: it is needed again if nobody says that the shard is done."""
        with output_errors(name):
            copy = self._waiting.scratch.file("")
            shutil.copyfile(path, copy)
        self._waiting.publish(copy, name)

    def _free_name(self, path: Path, ids: list[str]) -> str:
        """A name that no other file of the dataset has or will get."""
        taken = (_NUMBER.match(name) for name in self._root.names())
        number = max((int(found[1]) for found in taken if found), default=-1) + 1
        while not self._root.claim(list_name(number), orjson.dumps(ids)):
            number += 1
        return f"part-{number:05d}{path.name[path.name.index('.') :]}"

    def _settle(self, record: Record) -> None:
        for hidden, name in record.files.items():
            self._root.move(f"{_WAITING}/{hidden}", name)


@contextmanager
def open_commits(root: str) -> Iterator[Commits]:
    """The shards that are done in an output place."""
    commits = Commits(root)
    try:
        yield commits
    finally:
        commits.close()


def _number(name: str) -> int:
    return int(name.removeprefix("part-").partition(".")[0])


def _moved(location: str | None, names: Mapping[str, str]) -> str | None:
    return location if location is None else names.get(location, location)


def _encoded(record: Record) -> bytes:
    facts: dict[str, Any] = {
        "version": _VERSION,
        "at": record.at,
        "files": dict(record.files),
        "results": list(record.results),
    }
    return orjson.dumps(facts)
