"""What jobs leave to others, and that reading goes on whatever happens to it once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import anyio
import pytest
from prometheus_client import generate_latest

from moonpress.document import PageImage, PageReading, Usage
from moonpress.errors import NoSpace
from moonpress.serving.jobs.job import Job, JobState
from moonpress.serving.jobs.runner import JobRunner
from moonpress.serving.jobs.start import JobChoices, jobs_of
from moonpress.serving.keys import Keys
from moonpress.serving.limits import ServiceLimits
from moonpress.serving.requests import JobRequest
from moonpress.serving.service import Service
from tests.batch.command import labelled_pdf

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class _Engine:
    """Reads pages once it may, and counts those that it has at the same time."""

    capacity: int = 1
    name: str = "growing"
    working: int = 0
    free: anyio.Event = field(default_factory=anyio.Event)

    async def read(self, image: PageImage) -> PageReading:  # noqa: ARG002 - as engines are called
        self.working += 1
        try:
            await self.free.wait()
        finally:
            self.working -= 1
        return PageReading(blocks=(), usage=Usage(engine=self.name))

    async def aclose(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def _running(folder: Path, engine: _Engine) -> AsyncIterator[tuple[Service, JobRunner]]:
    service = Service(engine, ServiceLimits(), Keys([]))
    runner = jobs_of(service, JobChoices(folder, 1.0, 10, (), None))
    await service.look()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.run)
            yield service, runner
            tasks.cancel_scope.cancel()
    finally:
        await runner.aclose()
        await service.aclose()


def _add(runner: JobRunner, pages: int) -> Job:
    job = runner.store.add(JobRequest(), BytesIO(labelled_pdf("any", pages)), "")
    runner.added()
    return job


async def _until(what: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not what():  # noqa: ASYNC110 - seen from outside
            await anyio.sleep(0.02)


async def test_jobs_use_servers_that_come_later_and_leave_a_quarter(tmp_path: Path) -> None:
    engine = _Engine()
    async with _running(tmp_path, engine) as (_, runner):
        job = _add(runner, 20)
        await _until(lambda: engine.working == 1)
        engine.capacity = 8
        await _until(lambda: engine.working == 6)
        await anyio.sleep(0.5)
        assert engine.working == 6
        engine.free.set()
        await _until(lambda: runner.store.job(job.id, "").state is JobState.DONE)


async def test_a_store_that_fails_once_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpress.serving.jobs.runner._AGAIN_SECONDS", 0.01)
    engine = _Engine()
    engine.free.set()
    async with _running(tmp_path, engine) as (service, runner):
        failed: list[str] = []
        for name in ("next", "opened", "end", "expired", "next_webhook"):
            _fail_once(runner, name, failed, monkeypatch)
        job = _add(runner, 2)
        await _until(lambda: runner.store.job(job.id, "").state is JobState.DONE)
        assert {"next", "opened", "end"} <= set(failed)
        metrics = generate_latest(service.metrics.registry).decode()
        assert 'moonpress_jobs{state="done"} 1.0' in metrics


def _fail_once(
    runner: JobRunner, name: str, failed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = getattr(runner.store, name)

    def fails(*args: object) -> object:
        if name in failed:
            return usual(*args)
        failed.append(name)
        raise NoSpace("the disk is full")

    monkeypatch.setattr(runner.store, name, fails)
