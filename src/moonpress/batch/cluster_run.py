"""A run over many machines: documents are found here, and read there, shard by shard.

Owns which worker gets which shard, what the loss of a worker means, and how results come into this
machine's ledger. Never reads a document, and never knows how workers are reached.

    items → portions → ledger: what is left → [backlog] → lease → worker → done/SHARD → ledger
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from moonpress.batch.backlog import Backlog
from moonpress.batch.cluster_meter import ClusterMeter
from moonpress.batch.commits import Commits
from moonpress.batch.entry import State
from moonpress.batch.leases import Lease, Leases
from moonpress.batch.ledger import Ledger
from moonpress.batch.ledger_view import entries_of
from moonpress.batch.request import BatchRequest
from moonpress.batch.results import Result, results
from moonpress.batch.run import clash
from moonpress.batch.shard_work import Introduction
from moonpress.batch.shards import Portion, Shard, name_of, portions
from moonpress.batch.sinks.factory import DATASETS, make_sink
from moonpress.batch.start import ENGINE_FACT
from moonpress.batch.stop import Stop
from moonpress.batch.workers import Cluster, RemoteWorker, WorkerLost
from moonpress.errors import EngineUnavailable, MoonpressError, UsageError, root_cause
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.telemetry import event

_SHARDS_AT_ONCE = 2
_TRIES = 4
_NEWS_SECONDS = 0.5
_HIRE_SECONDS = 5.0
_PROBLEMS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """What a cluster run is made of.

    Attributes:
        request: The caller's choices.
        ledger: Of this machine; it is not closed.
        cluster: Where workers come from.
        meter: Counts what happens.
        stop: To end the run early.
        announce: Told in one line what happens to machines.
    """

    request: BatchRequest
    ledger: Ledger
    cluster: Cluster
    meter: ClusterMeter
    stop: Stop
    announce: Callable[[str], None]


async def run_on_cluster(
    parts: ClusterParts, items: Iterator[InputItem | InputProblem]
) -> list[InputProblem]:
    """Read everything that neither the ledger nor the output place has yet.

    Returns:
        What was found and could not even become a document; a thousand at most.

    Raises:
        UsageError: machines would read with different engines, or cannot work at all.
        EngineUnavailable: no engine, or no machine, is there.
        NoSpace: a disk is full.
        OutputError: the ledger or the sink cannot be written.
    """
    commits = await anyio.to_thread.run_sync(Commits, parts.request.sink.root)
    try:
        leases = await anyio.to_thread.run_sync(Leases, commits.leases)
        try:
            return await ClusterRun(parts, commits, leases, Backlog(parts.stop)).read_all(items)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(leases.close)
    except BaseExceptionGroup as group:
        raise root_cause(group) from group
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(commits.close)


@dataclass(slots=True)
class ClusterRun:
    """The tasks of one cluster run and what they share."""

    parts: ClusterParts
    commits: Commits
    leases: Leases
    backlog: Backlog
    _choices: str = ""
    _engine: str = ""
    _tries: Counter[str] = field(default_factory=Counter)
    _workers: list[RemoteWorker] = field(default_factory=list)
    _starting: int = 0
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _begun: anyio.Event = field(default_factory=anyio.Event)

    async def read_all(self, items: Iterator[InputItem | InputProblem]) -> list[InputProblem]:
        """See `run_on_cluster`."""
        problems: list[InputProblem] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.leases.keep_beating)
            tasks.start_soon(self._keep_hiring, tasks)
            await self._ready.wait()
            await anyio.to_thread.run_sync(self._begin)
            self._begun.set()
            tasks.start_soon(self._pass_on_stop)
            tasks.start_soon(self._find, items, problems)
            await self.backlog.until_finished()
            tasks.cancel_scope.cancel()
        for worker in self._workers:
            await self._part_with(worker)
        await anyio.to_thread.run_sync(self._tidy)
        return problems

    def _begin(self) -> None:
        ledger = self.parts.ledger
        ledger.note(ENGINE_FACT, self._engine)
        self._adopt_all()
        number = ledger.begin_run()
        ledger.try_again(only_unavailable=True)
        self._choices = self.parts.request.choices(self._engine)
        event("run_started", run=number, engine=self._engine)

    async def _keep_hiring(self, tasks: TaskGroup) -> None:
        """Take machines that come, and replace workers that are gone."""
        alone = anyio.current_time()
        while True:
            for worker in [] if self.parts.stop.requested else await self.parts.cluster.hire():
                self._starting += 1
                tasks.start_soon(self._welcome, worker)
            if self._workers or self._starting:
                alone = anyio.current_time()
            elif not self._begun.is_set():
                raise EngineUnavailable("no machine of the cluster offers CPUs")
            elif anyio.current_time() - alone > self.parts.request.patience:
                raise EngineUnavailable(
                    "no machine of the cluster is left",
                    hint="Start the cluster again, then the same command: what was read is kept",
                )
            await anyio.sleep(_HIRE_SECONDS)

    async def _welcome(self, worker: RemoteWorker) -> None:
        """Let a new worker work, if it can."""
        try:
            who = await worker.introduce()
            self._check(who)
        except (MoonpressError, WorkerLost) as error:
            self._starting -= 1
            await worker.end()
            known = error if isinstance(error, MoonpressError) else _lost(error)
            if not self._starting and not self._ready.is_set():
                raise known from None
            self.parts.announce(f"warning: a machine cannot take part: {known}")
            return
        self._starting -= 1
        self._workers.append(worker)
        event("worker_ready", worker=worker.name, host=who.host, capacity=who.capacity)
        self._ready.set()
        await self._begun.wait()
        await self._serve(worker)

    def _check(self, who: Introduction) -> None:
        self._engine = self._engine or who.engine
        if who.engine != self._engine:
            raise UsageError(
                f"{who.host} would read with {who.engine}, and others with {self._engine}",
                hint="Name one with --engine",
            )

    async def _pass_on_stop(self) -> None:
        while not self.parts.stop.requested:  # noqa: ASYNC110 - it is set by a signal's handler
            await anyio.sleep(_NEWS_SECONDS / 2)
        await self.backlog.wake()
        for worker in list(self._workers):
            try:
                await worker.stop()
            except WorkerLost:
                continue

    async def _serve(self, worker: RemoteWorker) -> None:
        """Give a worker shards until there are none, or it is gone."""
        try:
            async with anyio.create_task_group() as slots:
                slots.start_soon(self._listen, worker)
                for _ in range(_SHARDS_AT_ONCE):
                    slots.start_soon(self._give, worker)
        except BaseExceptionGroup as group:
            rest = group.split(WorkerLost)[1]
            if rest is not None:
                raise rest from None
            self._lose(worker)
            await worker.end()

    async def _part_with(self, worker: RemoteWorker) -> None:
        try:
            self.parts.meter.update(worker.name, (await worker.news()).reading)
        except WorkerLost:
            return
        await worker.end()

    def _lose(self, worker: RemoteWorker) -> None:
        event("worker_lost", level=logging.WARNING, worker=worker.name)
        self.parts.announce(f"warning: a worker is gone: {worker.name}; others read its documents")
        self._workers.remove(worker)
        self.parts.meter.gone(worker.name)
        self.parts.cluster.lost(worker)

    async def _listen(self, worker: RemoteWorker) -> None:
        while True:
            await anyio.sleep(_NEWS_SECONDS)
            news = await worker.news()
            self.parts.meter.update(worker.name, news.reading)
            await self._adopt(news.results)

    async def _give(self, worker: RemoteWorker) -> None:
        while (shard := await self.backlog.take()) is not None:
            try:
                await self._hand_over(worker, shard)
            except WorkerLost:
                self._tries[shard.key] += 1
                with anyio.CancelScope(shield=True):
                    await self._read_again(shard)
                raise
            except anyio.get_cancelled_exc_class():
                # The other slot has found that the worker is gone.
                with anyio.CancelScope(shield=True):
                    await self.backlog.give_back(shard)
                raise

    async def _hand_over(self, worker: RemoteWorker, shard: Shard) -> None:
        left, known = await anyio.to_thread.run_sync(self._left, shard)
        lease = await anyio.to_thread.run_sync(self.leases.take, shard.key)
        record = await anyio.to_thread.run_sync(self.commits.record, shard.key)
        if record is not None:
            await self._adopt(record.results, shard.key)
        elif lease is None:
            # Another run reads it. Until that is done or gone there may be others to read.
            await self.backlog.set_aside(shard)
            return
        elif not left:
            # The worker that read the last of them died before it could say so.
            await anyio.to_thread.run_sync(self.commits.commit, lease, known, ())
            await self._adopt((), shard.key)
        elif not await self._read(worker, Shard(shard.key, tuple(left)), lease, known):
            return
        await self._end(shard, lease)

    async def _read(
        self, worker: RemoteWorker, shard: Shard, lease: Lease, known: Sequence[Result]
    ) -> bool:
        """Have a shard read; whether it is done."""
        event("shard_started", shard=shard.key, documents=len(shard.items), worker=worker.name)
        outcome = await worker.read(shard, lease, known)
        if outcome.record is not None:
            await self._adopt(outcome.record.results, shard.key)
            return True
        await self._adopt(outcome.results if not outcome.complete else ())
        if outcome.error is not None:
            raise outcome.error
        if outcome.complete:
            # Somebody else was faster.
            await self.backlog.set_aside(shard)
        else:
            await self.backlog.finish()
        return False

    async def _end(self, shard: Shard, lease: Lease | None) -> None:
        if lease is not None:
            await anyio.to_thread.run_sync(self.leases.release, lease)
        self._tries.pop(shard.key, None)
        event("shard_done", shard=shard.key)
        await self.backlog.finish()

    async def _read_again(self, shard: Shard) -> None:
        """Let another worker read a shard, unless too many were lost over it."""
        if self._tries[shard.key] < _TRIES:
            await self.backlog.give_back(shard)
            return
        error = EngineUnavailable(f"{_TRIES} workers were lost while they read its shard")
        await anyio.to_thread.run_sync(self._fail, shard, error)
        await self.backlog.finish()

    def _fail(self, shard: Shard, error: MoonpressError) -> None:
        for entry in entries_of(self.parts.ledger.path, [item.id for item in shard.items]):
            if entry.state not in {State.DONE, State.FAILED}:
                self.parts.ledger.fail(entry.key, error)
                self.parts.meter.failed += 1

    def _left(self, shard: Shard) -> tuple[list[InputItem], list[Result]]:
        """Documents of a shard that are to be read, and results of the others."""
        path, ids = self.parts.ledger.path, [item.id for item in shard.items]
        ended = {State.DONE, State.FAILED}
        done = {one.item.id for one in entries_of(path, ids) if one.state in ended}
        left = [item for item in shard.items if item.id not in done]
        return left, list(results(path, ids=done))

    async def _find(
        self, items: Iterator[InputItem | InputProblem], problems: list[InputProblem]
    ) -> None:
        found = portions(items, self.parts.request.limit)
        # Shards of earlier runs: a name that is among them stands for what was read then.
        adopted = await anyio.to_thread.run_sync(self.parts.ledger.adopted)
        while not self.parts.stop.requested:
            portion = await anyio.to_thread.run_sync(next, found, None)
            if portion is None:
                break
            shard = await anyio.to_thread.run_sync(self._shard, portion, adopted, problems)
            if shard.items:
                await self.backlog.put(shard)
        await self.backlog.close()

    def _shard(self, portion: Portion, adopted: set[str], problems: list[InputProblem]) -> Shard:
        meter = self.parts.meter
        new = self.parts.ledger.admit(portion.items, self._choices)
        for one in (*portion.problems, *map(clash, new.clashes)):
            event("input_problem", level=logging.ERROR, error=one.error, input=one.name)
            meter.problems += 1
            if len(problems) < _PROBLEMS_KEPT:
                problems.append(one)
        meter.note_replaced(new.replaced)
        meter.documents += len(new.entries)
        left = [one.item for one in new.entries if one.state not in {State.DONE, State.FAILED}]
        meter.kept += len(new.entries) - len(left)
        meter.kept_failed += sum(one.state is State.FAILED for one in new.entries)
        name, attempt = name_of(portion.items, self._choices), 1
        while f"{name}-{attempt}" in adopted:
            attempt += 1
        return Shard(f"{name}-{attempt}", tuple(left))

    def _adopt_all(self) -> None:
        """Learn what other runs, or this one before it was killed, have done."""
        ledger = self.parts.ledger
        adopted = ledger.adopted()
        new = [key for key in self.commits.done() if key not in adopted]
        for record in self.commits.records(new):
            ledger.adopt(record.results, record.key, newer=True)

    async def _adopt(self, found: Sequence[Result], key: str | None = None) -> None:
        if not found and key is None:
            return
        meter = self.parts.meter
        # What is entered is counted, even if the worker is lost meanwhile.
        with anyio.CancelScope(shield=True):
            new = await anyio.to_thread.run_sync(self.parts.ledger.adopt, found, key)
        for entry in new:
            if entry.state is State.DONE:
                meter.document_out(entry)
            else:
                meter.failed += 1

    def _tidy(self) -> None:
        """Take older copies of documents out of the output, and what lost workers left."""
        request, ledger = self.parts.request, self.parts.ledger
        self.commits.sweep()
        old = ledger.superseded()
        if not old and request.sink.kind not in DATASETS:
            return
        settings = request.sink
        # To open a dataset is to put it in order.
        sink = make_sink(settings.kind, settings.root, settings.formats, settings.options)
        sink.remove(old)
        ledger.removed(old)


def _lost(error: WorkerLost) -> MoonpressError:
    return EngineUnavailable(f"its worker did not start: {error}")
