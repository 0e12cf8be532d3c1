"""The jobs of a service, taken up one after the other and ended.

Owns which job is read when, and how each ends. Never draws or reads pages: see
`moonpress.serving.jobs.reading`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from moonpress.errors import (
    EngineUnavailable,
    JobUnfinished,
    MoonpressError,
    NoSpace,
    OutputError,
    root_cause,
)
from moonpress.serving.jobs.changes import Changes
from moonpress.serving.jobs.job import Job, JobState
from moonpress.serving.jobs.reading import Desk, read_job
from moonpress.serving.jobs.results import Results
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.jobs.webhooks import Webhooks
from moonpress.serving.service import Service
from moonpress.telemetry import event

# While the last pages of one are read, the next can draw its first.
_AT_ONCE: Final = 2
# The share of the engine's places that jobs leave to who waits for an answer.
_LEFT_TO_OTHERS: Final = 4
_SWEEP_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.25
_AGAIN_SECONDS: Final = 5.0
# Whoever waits for work is told of it; this is for what nobody tells.
_IDLE_SECONDS: Final = 5.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class JobSettings:
    """Choices of the operator.

    Attributes:
        kept_seconds: How long a job is kept after its end.
        drain_seconds: For the pages in flight when the service ends.
    """

    kept_seconds: float
    drain_seconds: float = 60.0


class JobRunner:
    """Reads the jobs of a store with the engine of a service.

    Args:
        service: Whose engine reads.
        store: Closed with this.
        settings: Choices of the operator.
        webhooks: Tells clients.

    Attributes:
        results: Whole documents.
        changes: Told of every page, and of every change of a job's state.
        webhooks: Tells clients.
    """

    def __init__(
        self, service: Service, store: JobStore, settings: JobSettings, webhooks: Webhooks
    ) -> None:
        self.store = store
        self.changes = Changes()
        self._service = service
        self._settings = settings
        self.webhooks = webhooks
        self.results = Results(store)
        self._stopping = False
        self._running: dict[str, anyio.CancelScope] = {}
        self._places = anyio.CapacityLimiter(1)
        self._desk = Desk(
            service=service,
            store=store,
            places=self._places,
            stopping=lambda: self.stopping,
            page_out=lambda job: self.changes.tell(job.id),
        )

    @property
    def stopping(self) -> bool:
        """Whether the service ends: no page is begun any more."""
        return self._stopping or self._service.draining

    async def run(self) -> None:
        """Read jobs until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_for_ever, self.webhooks.keep_telling)
            tasks.start_soon(_for_ever, self._sweep)
            tasks.start_soon(self._follow_capacity)
            for _ in range(_AT_ONCE):
                tasks.start_soon(_for_ever, self._work)

    def added(self) -> None:
        """A job came."""
        self.changes.tell("")

    async def cancel(self, job: Job) -> None:
        """End a job that has not ended; the engine is free at once.

        Raises:
            JobUnfinished: it has ended meanwhile.
        """
        ended = await anyio.to_thread.run_sync(self.store.end, job, JobState.CANCELLED)
        if not ended:
            raise JobUnfinished("the job has ended meanwhile", hint="Ask for it once more")
        scope = self._running.get(job.id)
        if scope is not None:
            scope.cancel()
        self._has_ended(job, JobState.CANCELLED)

    async def finish(self) -> None:
        """Begin no page more, and wait for those in flight."""
        self._stopping = True
        with anyio.move_on_after(self._settings.drain_seconds):
            while self._running:  # noqa: ASYNC110 - each ends in its own way
                await anyio.sleep(_LOOK_SECONDS)

    async def aclose(self) -> None:
        """Close the store; nothing may run any more."""
        await anyio.to_thread.run_sync(self.store.close)

    async def _work(self) -> None:
        while True:
            job = await self._take()
            with anyio.CancelScope() as scope:
                self._running[job.id] = scope
                try:
                    # From here on it can be cancelled; it may have been, a moment before.
                    if await anyio.to_thread.run_sync(self.store.is_running, job):
                        await self._read(job)
                finally:
                    del self._running[job.id]

    async def _take(self) -> Job:
        while True:
            came = self.changes.of("")
            if self._service.ready and not self.stopping:
                job = await anyio.to_thread.run_sync(self.store.next)
                if job is not None:
                    return job
                with anyio.move_on_after(_IDLE_SECONDS):
                    await came.wait()
            else:
                await anyio.sleep(_LOOK_SECONDS)

    async def _follow_capacity(self) -> None:
        """Servers come and go while a long job runs."""
        while True:
            capacity = max(self._service.engine.capacity, 1)
            self._places.total_tokens = max(capacity - capacity // _LEFT_TO_OTHERS, 1)
            await anyio.sleep(_LOOK_SECONDS)

    async def _read(self, job: Job) -> None:
        event("job_started", job=job.id)
        self.changes.tell(job.id)
        try:
            complete = await read_job(job, self._desk)
            if complete:
                # While it has not ended: whoever is told of the end can have it at once.
                whole = await anyio.to_thread.run_sync(self.store.job, job.id, job.owner)
                await self.results.result(whole, job.request.output_format)
        except (Exception, BaseExceptionGroup) as raised:  # noqa: BLE001 - the edge of a job
            await self._stumbled(job, root_cause(raised))
        else:
            if complete:
                await self._end(job, JobState.DONE)
            else:
                await _kept(partial(self.store.put_back, job))

    async def _stumbled(self, job: Job, error: BaseException) -> None:
        if isinstance(error, (EngineUnavailable, NoSpace)):
            # Neither is the fault of the document.
            event("job_waits", level=logging.ERROR, job=job.id, error=error)
            await anyio.sleep(_AGAIN_SECONDS)
            await _kept(partial(self.store.put_back, job))
            return
        if not isinstance(error, MoonpressError):
            event("bug", level=logging.ERROR, error=error, job=job.id)
            error = MoonpressError("a bug in Moonpress ended the job", hint="See the service's log")
        await self._end(job, JobState.FAILED, error)

    async def _end(self, job: Job, state: JobState, error: MoonpressError | None = None) -> None:
        if await _kept(partial(self.store.end, job, state, error)):
            self._has_ended(job, state, error)

    def _has_ended(self, job: Job, state: JobState, error: MoonpressError | None = None) -> None:
        event("job_ended", job=job.id, state=state.value, error=error)
        self.changes.tell(job.id)
        self.webhooks.look()

    async def _sweep(self) -> None:
        """Remove jobs that ended long ago."""
        while True:
            before = time.time() - self._settings.kept_seconds
            for job in await anyio.to_thread.run_sync(self.store.expired, before):
                await anyio.to_thread.run_sync(self.store.remove, job)
                event("job_expired", job=job.id)
            await anyio.sleep(min(_SWEEP_SECONDS, max(self._settings.kept_seconds, 1.0)))


async def _kept(change: Callable[[], _T]) -> _T:
    """Have the store keep a change, as often as the disk refuses it; its result."""
    while True:
        try:
            return await anyio.to_thread.run_sync(change)
        except OutputError as error:
            event("jobs_refused_by_disk", level=logging.ERROR, error=error)
            await anyio.sleep(_AGAIN_SECONDS)


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    """Begin a task anew that failed: a service without it would look well and read no jobs."""
    while True:
        try:
            await work()
        except (Exception, BaseExceptionGroup) as raised:  # noqa: BLE001 - the edge of a task
            event("jobs_stumbled", level=logging.ERROR, error=root_cause(raised))
            await anyio.sleep(_AGAIN_SECONDS)
