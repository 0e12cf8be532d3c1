"""A cluster run whose workers live in this process: what is read again, and what loss means.

Everything but the engine and the way to the workers is the real thing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
import zstandard

from moonpress.batch import cluster_run, ledger_view
from moonpress.batch.cluster_meter import ClusterMeter, reading_of
from moonpress.batch.cluster_run import ClusterParts, run_on_cluster
from moonpress.batch.commits import Commits
from moonpress.batch.entry import State
from moonpress.batch.gated_engine import GatedEngine
from moonpress.batch.leases import Lease
from moonpress.batch.ledger import Ledger
from moonpress.batch.request import BatchRequest
from moonpress.batch.results import Result
from moonpress.batch.shard_work import Introduction, Outcome, ShardWork, WorkerSetup
from moonpress.batch.shards import Shard
from moonpress.batch.sinks.scratch import Scratch
from moonpress.batch.stop import Stop
from moonpress.batch.workers import News, RemoteWorker, WorkerLost
from moonpress.engines.base import Engine
from moonpress.engines.fake import FakeEngine
from moonpress.engines.registry import EngineOptions
from moonpress.errors import EngineRejected, EngineUnavailable
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.opening import Opener
from tests.batch.runs import make_documents, request_for

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _hired_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster_run, "_HIRE_SECONDS", 0.1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@dataclass(slots=True)
class _Worker:
    """A worker here; lost with the shards that ``lost_with`` names."""

    name: str
    work: ShardWork
    lost_with: Callable[[Shard], bool]
    dies_late: bool = False
    stored: list[Result] = field(default_factory=list)

    async def introduce(self) -> Introduction:
        return self.work.introduction

    async def read(self, shard: Shard, lease: Lease, known: Sequence[Result]) -> Outcome:
        if self.lost_with(shard):
            raise WorkerLost(self.name)
        if not self.dies_late:
            return await self.work.read(shard, lease, known)
        # Somebody has the lease of a later generation, for all that the worker knows.
        self.work.commits.leases.write(f"{shard.key}.9", b"{}")
        outcome = await self.work.read(shard, Lease(shard.key, 8), known)
        self.work.commits.leases.remove(f"{shard.key}.9")
        self.stored = list(outcome.results)
        # Twice as long as it takes until somebody asks for news.
        await anyio.sleep(1.0)
        raise WorkerLost(self.name)

    async def news(self) -> News:
        stored, self.stored = self.stored, []
        return News(reading_of(self.work.meter), [*self.work.news(), *stored])

    async def stop(self) -> None:
        self.work.stop.request()

    async def end(self) -> None:
        await self.work.aclose()


@dataclass(slots=True)
class _Cluster:
    """Machines with these engines."""

    request: BatchRequest
    engines: list[Engine]
    lost_with: Callable[[Shard], bool] = lambda _shard: False
    hired: int = 0
    free: list[Engine] = field(default_factory=list)
    made: list[ShardWork] = field(default_factory=list)
    dies_late: bool = False

    def __post_init__(self) -> None:
        self.free = list(self.engines)

    async def hire(self) -> list[RemoteWorker]:
        new: list[RemoteWorker] = []
        while self.free:
            self.hired += 1
            work = self._work(self.free.pop(0))
            late = self.dies_late and self.hired == 1
            new.append(_Worker(f"w{self.hired}", work, self.lost_with, late))
        return new

    def lost(self, _worker: RemoteWorker) -> None:
        self.free.append(self.engines[0])

    def _work(self, engine: Engine) -> ShardWork:
        setup = WorkerSetup(self.request, "fake", EngineOptions(), None, "test", "0")
        folder = self.request.ledger.parent
        opener = Opener(LocalCopies(folder, Limits()))
        commits = Commits(self.request.sink.root)
        work = ShardWork(setup, GatedEngine(engine), opener, commits, Scratch(folder))
        self.made.append(work)
        return work


def _request(out: Path, kind: str = "folder", **choices: Any) -> BatchRequest:
    from dataclasses import replace

    request = request_for(out, **choices)
    return replace(request, sink=replace(request.sink, kind=kind))


async def _run(
    request: BatchRequest, items: Sequence[InputItem], cluster: _Cluster | None = None
) -> ClusterMeter:
    ledger, meter = Ledger(request.ledger), ClusterMeter()
    cluster = cluster or _Cluster(request, [FakeEngine(capacity=4), FakeEngine(capacity=2)])
    said: list[str] = []
    parts = ClusterParts(request, ledger, cluster, meter, Stop(), said.append)
    try:
        await run_on_cluster(parts, iter(items))
    finally:
        ledger.close()
        # Ray does so when the driver has gone.
        for work in cluster.made:
            await work.aclose()
    return meter


def _states(request: BatchRequest) -> Counter[State]:
    return Counter(entry.state for entry in ledger_view.entries(request.ledger))


def _rows(out: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in out.glob("part-*.jsonl.zst"):
        with path.open("rb") as file:
            lines = zstandard.ZstdDecompressor().stream_reader(file).read().splitlines()
        found.update(json.loads(line)["id"] for line in lines)
    return found


@pytest.mark.parametrize("kind", ["folder", "jsonl", "parquet"])
async def test_what_is_done_is_not_read_again(tmp_path: Path, kind: str) -> None:
    items = make_documents(tmp_path / "in", [2] * 20)
    request = _request(tmp_path / "out", kind)
    first = await _run(request, items[:19])
    assert (first.done, first.pages, first.kept) == (19, 38, 0)
    second = await _run(request, items)
    assert (second.done, second.pages, second.kept) == (1, 2, 19)
    assert _states(request) == {State.DONE: 20}
    if kind == "jsonl":
        assert _rows(tmp_path / "out") == Counter(item.id for item in items)


async def test_the_output_place_tells_what_is_done_when_the_ledger_is_gone(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1] * 12)
    request = _request(tmp_path / "out", "jsonl")
    await _run(request, items)
    request.ledger.unlink()
    again = await _run(request, items)
    assert (again.kept, again.pages) == (12, 0)
    assert _rows(tmp_path / "out").total() == 12


async def test_other_options_read_anew_and_take_the_place_of_what_was_there(
    tmp_path: Path,
) -> None:
    items = make_documents(tmp_path / "in", [2] * 12)
    await _run(_request(tmp_path / "out", "jsonl"), items)
    meter = await _run(_request(tmp_path / "out", "jsonl", pages="1"), items)
    assert meter.pages == 12
    back = await _run(_request(tmp_path / "out", "jsonl"), items)
    assert back.pages == 24
    # Of what the output place tells, the newest counts.
    _request(tmp_path / "out").ledger.unlink()
    assert (await _run(_request(tmp_path / "out", "jsonl"), items)).pages == 0
    assert _rows(tmp_path / "out") == Counter(item.id for item in items)


async def test_a_retry_reads_what_failed(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1, 2, 1])
    request = _request(tmp_path / "out", "jsonl")
    bad = FakeEngine(capacity=1, failures={2: EngineRejected("as told")})
    await _run(request, items, _Cluster(request, [bad]))
    [failed] = ledger_view.failed_pages(request.ledger, run=1, most=9)
    assert (failed.id, failed.page.number) == ("01.pdf", 2)
    assert (await _run(request, items)).pages == 0
    ledger = Ledger(request.ledger)
    assert ledger.try_again(only_unavailable=False) == 1
    ledger.close()
    meter = await _run(request, items)
    assert (meter.done, meter.kept) == (1, 2)
    assert ledger_view.failed_pages(request.ledger, run=1, most=9) == []
    assert _rows(tmp_path / "out") == Counter(item.id for item in items)


async def test_a_shard_that_takes_all_workers_with_it_fails_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    items = make_documents(tmp_path / "in", [1] * 40)
    request = _request(tmp_path / "out")
    cluster = _Cluster(
        request, [FakeEngine(capacity=2)], lambda shard: items[0].id in {i.id for i in shard.items}
    )
    meter = await _run(request, items, cluster)
    states = _states(request)
    assert states[State.FAILED] > 0
    assert states[State.FAILED] + states[State.DONE] == 40
    assert meter.failed == states[State.FAILED]
    [first] = ledger_view.entries_of(request.ledger, [items[0].id])
    assert first.code == "engine-unavailable"


async def test_machines_must_read_with_the_same_engine(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1])
    request = _request(tmp_path / "out")

    class _Other(FakeEngine):
        name = "other"

    cluster = _Cluster(request, [FakeEngine(), _Other()])
    # One is enough; the other machine is told of.
    assert (await _run(request, items, cluster)).done == 1


async def test_a_cluster_without_machines_is_told(tmp_path: Path) -> None:
    request = _request(tmp_path / "out")
    with pytest.raises(EngineUnavailable, match="no machine"):
        await _run(request, [], _Cluster(request, []))


async def test_an_engine_that_stays_away_ends_the_run(tmp_path: Path) -> None:
    items = make_documents(tmp_path / "in", [1])
    request = _request(tmp_path / "out", patience=0.5)

    class _Gone(FakeEngine):
        gone = False

        async def prepare(self) -> None:
            if self.gone:
                raise EngineUnavailable("nobody answers")

        async def read(self, _image: Any) -> Any:
            self.gone = True
            raise EngineUnavailable("nobody answers")

    with pytest.raises(EngineUnavailable, match="nobody answers"):
        await _run(request, items, _Cluster(request, [_Gone()]))
    assert (await _run(request, items)).done == 1


def test_the_meter_is_the_sum_of_the_workers() -> None:
    meter = ClusterMeter()
    worker = ClusterMeter()
    worker.reading.tasks, worker.reading.seconds, worker.pages = 4, 2.0, 7
    meter.update("a", reading_of(worker))
    meter.update("b", reading_of(worker))
    meter.update("b", reading_of(worker))
    assert (meter.pages, meter.reading.tasks, meter.reading.seconds) == (14, 8, 4.0)
    meter.gone("b")
    meter.update("a", reading_of(worker))
    assert (meter.pages, meter.reading.tasks, meter.reading.seconds) == (14, 4, 4.0)


async def test_documents_that_were_stored_by_a_worker_that_died_are_not_read_again(
    tmp_path: Path,
) -> None:
    items = make_documents(tmp_path / "in", [1] * 3)
    request = _request(tmp_path / "out")
    cluster = _Cluster(request, [FakeEngine(capacity=2)])
    cluster.dies_late = True
    meter = await _run(request, items, cluster)
    assert (meter.done, meter.pages) == (3, 3)
    commits = Commits(request.sink.root)
    [record] = commits.records(commits.done())
    assert {one["id"] for one in record.results} == {item.id for item in items}
    commits.close()
