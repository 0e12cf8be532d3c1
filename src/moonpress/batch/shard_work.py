"""One machine's part of a cluster run: an engine, and the shards that are read with it.

Owns what a worker does with a shard: the same run as on one machine, with a ledger of its own on
this machine's disk, then saying that the shard is done. Never knows who sends shards, or how.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import anyio
import anyio.to_thread

from moonpress.batch import ledger_view
from moonpress.batch.assemblers import Assemblers
from moonpress.batch.commits import Commits, Record
from moonpress.batch.gated_engine import GatedEngine
from moonpress.batch.leases import Lease
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Meter
from moonpress.batch.page_source import RenderedPages
from moonpress.batch.request import BatchRequest
from moonpress.batch.results import Result, results
from moonpress.batch.shards import Shard
from moonpress.batch.sinks.factory import DATASETS
from moonpress.batch.sinks.scratch import Scratch
from moonpress.batch.sinks.store import is_remote
from moonpress.batch.start import page_source, run_batch
from moonpress.batch.stop import Stop
from moonpress.engines.base import Engine, prepare
from moonpress.engines.registry import EngineOptions, create_engine
from moonpress.errors import MoonpressError, UsageError, root_cause
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.opening import Opener

_LEDGER_NAME = ledger_view.LEDGER_NAME
# As many as shards are read at once.
_SPARE = 2
_KEPT_SECONDS = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What every worker of a run is told.

    Attributes:
        request: The run; its ledger is that of whoever sends shards.
        engine: Name of the engine.
        options: For the engine.
        sign: A file in the local output folder, which all machines have to see; ``None`` where
            the output is an address.
        name: Of the run's output place, for folders on this machine's disk.
        version: Of Moonpress.
    """

    request: BatchRequest
    engine: str
    options: EngineOptions
    sign: Path | None
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a worker tells of itself.

    Attributes:
        host: Name of its machine.
        engine: The engine's own name, once it is prepared.
        capacity: Pages that it reads at once.
    """

    host: str
    engine: str
    capacity: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a shard ended.

    Attributes:
        record: Of the shard that is done; ``None`` when it is not, or another has done it.
        results: What became of its documents so far.
        complete: Whether all of them are done or failed.
        error: What ended the run early.
    """

    record: Record | None
    results: Sequence[Result]
    complete: bool
    error: MoonpressError | None = None


@dataclass(slots=True)
class ShardWork:
    """A worker; made by `started`.

    Attributes:
        setup: What it was told.
        engine: Prepared; shared by the shards that are read at once.
        opener: Of documents.
        commits: Where it says that shards are done.
        scratch: Copies of what is not on this machine.
        meter: Counts over all shards.
        stop: Set once, for all shards.
    """

    setup: WorkerSetup
    engine: Engine
    opener: Opener
    commits: Commits
    scratch: Scratch
    meter: Meter = field(default_factory=Meter)
    stop: Stop = field(default_factory=Stop)
    _source: RenderedPages | None = None
    _assemblers: Assemblers = field(default_factory=lambda: Assemblers(kept=_SPARE))
    _running: dict[str, tuple[Path, int]] = field(default_factory=dict)
    _told: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    async def started(cls, setup: WorkerSetup) -> ShardWork:
        """A worker that is ready to read.

        Raises:
            UsageError: this machine lacks what the run needs.
            EngineUnavailable: the engine is not there.
            OutputError: the output place cannot be written from here.
        """
        await anyio.to_thread.run_sync(_check, setup)
        engine = create_engine(setup.engine, setup.options)
        try:
            await prepare(engine)
            commits = await anyio.to_thread.run_sync(Commits, setup.request.sink.root)
        except BaseException:
            await engine.aclose()
            raise
        scratch = Scratch(Path(tempfile.gettempdir()))
        opener = Opener(LocalCopies(scratch.folder, Limits()))
        return cls(setup, GatedEngine(engine), opener, commits, scratch)

    @property
    def introduction(self) -> Introduction:
        """Who reads here."""
        return Introduction(socket.gethostname(), self.engine.name, self.engine.capacity)

    async def read(self, shard: Shard, lease: Lease, known: Sequence[Result]) -> Outcome:
        """Read a shard's documents, and say that it is done when it is.

        Args:
            shard: With the documents that are left to be read.
            lease: For it.
            known: Results of its other documents, to be kept with these.
        """
        folder = await anyio.to_thread.run_sync(_folder, self.setup.name, shard.key)
        with anyio.CancelScope(shield=True):
            ledger, folder = await anyio.to_thread.run_sync(_open_ledger, folder, lease)
        dataset = self.setup.request.sink.kind in DATASETS
        error = None
        try:
            try:
                await self._run(shard, ledger, folder if dataset else None)
            except (MoonpressError, BaseExceptionGroup) as raised:
                cause = root_cause(raised)
                if not isinstance(cause, MoonpressError):
                    raise
                error = cause
            outcome = await anyio.to_thread.run_sync(
                partial(self._end, ledger, shard, lease, known, error)
            )
        finally:
            self._running.pop(shard.key, None)
            self._told = {one for one in self._told if one[0] != shard.key}
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(ledger.close)
        if outcome.complete:
            await anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))
        return outcome

    async def _run(self, shard: Shard, ledger: Ledger, stage: Path | None) -> None:
        request = replace(self.setup.request, ledger=ledger.path, limit=None)
        if stage is not None:
            request = replace(request, sink=replace(request.sink, root=str(stage / "files")))
        else:
            # Documents of a dataset are stored with the shard; others are told of at once.
            self._running[shard.key] = (ledger.path, ledger.run + 1)
        if self._source is None:
            self._source = page_source(request, self.engine, self.opener)
        await run_batch(
            request,
            ledger=ledger,
            engine=self.engine,
            opener=self.opener,
            items=iter(shard.items),
            meter=self.meter,
            stop=self.stop,
            source=self._source,
            assemblers=self._assemblers,
        )

    def _end(
        self,
        ledger: Ledger,
        shard: Shard,
        lease: Lease,
        known: Sequence[Result],
        error: MoonpressError | None,
    ) -> Outcome:
        wanted = {item.id for item in shard.items}
        found = list(results(ledger.path, run=ledger.run, ids=wanted))
        complete = error is None and len(found) == len(wanted)
        dataset = self.setup.request.sink.kind in DATASETS
        if not complete:
            return Outcome(None, () if dataset else found, complete=False, error=error)
        files: dict[str, list[str]] = {}
        for one in found if dataset else ():
            if one["location"] is not None:
                files.setdefault(one["location"], []).append(one["id"])
        paths = [(ledger.path.parent / "files" / name, ids) for name, ids in files.items()]
        record = self.commits.commit(lease, found, paths, known)
        return Outcome(record, found, complete=True)

    def news(self) -> list[Result]:
        """Documents that were stored since the last call, of shards that are being read."""
        fresh = []
        for key, (path, run) in list(self._running.items()):
            for one in results(path, run=run):
                if (key, one["id"]) not in self._told:
                    self._told.add((key, one["id"]))
                    fresh.append(one)
        return fresh

    async def aclose(self) -> None:
        """End the engine and remove what is temporary."""
        async with aclosing(self.engine):
            if self._source is not None:
                await self._source.aclose()
            await self._assemblers.aclose()
            await anyio.to_thread.run_sync(self.commits.close)
            self.opener.close()
            self.scratch.close()


def _check(setup: WorkerSetup) -> None:
    host = socket.gethostname()
    if version("moonpress") != setup.version:
        raise UsageError(
            f"{host} has Moonpress {version('moonpress')}, and not {setup.version}",
            hint="Install the same version on every machine",
        )
    if setup.sign is not None and not setup.sign.is_file():
        raise UsageError(
            f"{host} does not see the output folder {setup.request.sink.root}",
            hint="Choose a folder that all machines share, or an address such as s3://bucket/read",
        )


def _folder(name: str, key: str) -> Path:
    """Where the ledger of a shard lies; another try on the same machine goes on from it."""
    base = Path(tempfile.gettempdir()) / f"moonpress-cluster-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    if base.stat().st_uid != os.getuid():
        raise UsageError(f"{base} belongs to somebody else", hint="Set TMPDIR to another folder")
    for old in base.glob("*/*"):
        if time.time() - old.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    folder = base / name / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _open_ledger(folder: Path, lease: Lease) -> tuple[Ledger, Path]:
    try:
        return Ledger(folder / _LEDGER_NAME), folder
    except UsageError:
        # A worker of an earlier try that nobody heard of any more still writes to it.
        folder = folder.with_name(lease.token)
        folder.mkdir(exist_ok=True)
        return Ledger(folder / _LEDGER_NAME), folder


def output_sign(root: str, name: str) -> Path | None:
    """Make the file by which machines see that they share a local output folder."""
    if is_remote(root):
        return None
    sign = Path(root) / ".moonpress" / f"sign-{name}"
    sign.touch()
    return sign
