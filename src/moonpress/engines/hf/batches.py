"""Pages that wait together are written together.

Owns who is in a batch, handing each page what is written for it, and what the end of the model's
process means. Never loads a model itself: see `moonpress.engines.hf.writer`.

A worker process and not a thread, because a step of a model holds Python's lock for milliseconds,
dozens of times a second: the event loop would stutter, and native code that crashes or runs out of
memory would take everything with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from moonpress.engines.hf.messages import ModelFacts, PageOrder, Progress
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import BadOutput, EngineError, EngineRejected, EngineUnavailable, UnknownName
from moonpress.processes import WorkerDied, WorkerError, WorkerProcess, WorkerTimeout
from moonpress.telemetry import event

# Pages are drawn one after the other: as long as one more comes within this, a batch that has room
# waits for it. A batch takes minutes, and pages that miss it wait for its end.
_NEXT_PAGE_SECONDS = 0.5
# A first start may bring 11 GB over a slow line.
_LOADING_SECONDS = 4 * 3600.0


@dataclass(slots=True, eq=False)
class Job:
    """A page that is to be written.

    Attributes:
        order: For the model's process.
        sampling: How it is written; only pages that agree in it can share a batch.
        news: What is written, as it comes; an error is the last that comes.
        given_up: Nobody wants it any more.
    """

    order: PageOrder
    sampling: Sampling
    news: asyncio.Queue[Written | Ending | EngineError] = field(default_factory=asyncio.Queue)
    given_up: bool = False
    begun: bool = False

    def tell(self, piece: Written | Ending | EngineError) -> None:
        """Hand on what came of it."""
        self.begun = True
        self.news.put_nowait(piece)

    @property
    def warmth(self) -> tuple[float, float]:
        """What pages of one batch agree in."""
        return self.sampling.temperature, self.sampling.top_p


class Batches:
    """Writes pages, several at once.

    Args:
        worker: Makes the process that holds the model.
    """

    def __init__(self, worker: Callable[[], WorkerProcess]) -> None:
        self._make_worker = worker
        self._worker: WorkerProcess | None = None
        self._starting = asyncio.Lock()
        self._facts: ModelFacts | None = None
        self._waiting: list[Job] = []
        self._came = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._most = 1

    async def start(self) -> ModelFacts:
        """Load the model, unless it is there.

        Raises:
            EngineUnavailable: it cannot be had, or its process ends.
            UnknownName: there is no such model.
        """
        async with self._starting:
            worker = self._worker
            if worker is not None and worker.alive and self._facts is not None:
                return self._facts
            await self._end_worker()
            self._worker = self._make_worker()
            try:
                await self._worker.start(timeout=_LOADING_SECONDS)
                self._facts = await self._worker.call("facts")
            except WorkerDied as death:
                raise _gone(death) from death
            except (WorkerTimeout, WorkerError) as error:
                raise EngineUnavailable(f"the model cannot be loaded: {error}") from error
            return self._facts

    def allow(self, most: int) -> None:
        """Set how many pages a batch may have."""
        self._most = most

    def add(self, job: Job) -> None:
        """Have a page written; what comes is told to the job."""
        self._waiting.append(job)
        self._came.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Batch after batch, until nobody waits."""
        batch: list[Job] = []
        try:
            while self._waiting:
                batch = await self._collect()
                if batch:
                    await self._write(batch)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of this task: pages must not wait forever
            bug = EngineUnavailable(f"the engine has a bug: {type(error).__name__}: {error}")
            event("engine_bug", error=error)
            for job in (*batch, *self._waiting):
                job.tell(bug)
            self._waiting.clear()

    async def _collect(self) -> list[Job]:
        """The pages of the next batch: the one that waits longest, and those that agree with it."""
        while len(self._waiting) < self._most:
            self._came.clear()
            try:
                await asyncio.wait_for(self._came.wait(), _NEXT_PAGE_SECONDS)
            except TimeoutError:
                break
        self._waiting = [job for job in self._waiting if not job.given_up]
        alike = [job for job in self._waiting if job.warmth == self._waiting[0].warmth]
        batch = alike[: self._most]
        self._waiting = [job for job in self._waiting if job not in batch]
        return batch

    async def _write(self, batch: Sequence[Job]) -> None:
        """Write a batch; every page in it is told how it ended."""
        try:
            await self.start()
            crowded = await self._follow(batch)
        except UnknownName as error:
            failure: EngineError = EngineUnavailable(error.message, hint=error.hint)
        except EngineUnavailable as error:
            failure = error
        except WorkerDied as death:
            # Maybe these pages did it: they may be tried again, in a new process.
            failure = BadOutput(_gone(death).message)
        except WorkerError as error:
            event("model_failed", error=error, detail=error.detail)
            failure = BadOutput(f"the model failed: {error}")
        else:
            if crowded:
                self._split(batch)
            return
        for job in batch:
            job.tell(failure)

    async def _follow(self, batch: Sequence[Job]) -> bool:
        """Hand on what is written until the batch is over; whether it was too large."""
        worker = self._worker
        if worker is None:
            raise EngineUnavailable("the engine is closed")
        orders = [job.order for job in batch]
        await worker.call("begin", orders, *batch[0].warmth)
        stopped: set[int] = set()
        while True:
            given_up = {row for row, job in enumerate(batch) if job.given_up}
            progress: Progress = await worker.call("advance", sorted(given_up - stopped))
            stopped = given_up
            for row, piece in progress.pieces:
                batch[row].tell(piece)
            if progress.over:
                return progress.out_of_memory

    def _split(self, batch: Sequence[Job]) -> None:
        """The GPU has too little memory for so many pages at once: from now on half of them."""
        event("batch_too_large", pages=len(batch))
        if len(batch) == 1:
            picture = "x".join(str(side) for side in reversed(batch[0].order.pixels.shape[:2]))
            message = f"the GPU has too little memory for a picture of {picture} pixels"
            batch[0].tell(EngineRejected(message, hint="Lower --dpi, or use a larger GPU"))
            return
        self._most = (len(batch) + 1) // 2
        for job in batch:
            if job.begun:
                message = f"the GPU has too little memory for {len(batch)} pages at once"
                job.tell(BadOutput(message, hint="Lower --batch-size"))
        self._waiting = [job for job in batch if not job.begun] + self._waiting

    async def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            await worker.aclose()

    async def aclose(self) -> None:
        """End the model's process at once, also in the middle of a batch."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._end_worker()


def _gone(death: WorkerDied) -> EngineUnavailable:
    """The kernel kills what takes too much memory, and says nothing."""
    last = death.stderr_tail.splitlines()[-1:] or [""]
    if death.exit_code == -9:
        what = "was killed, probably because this machine has too little memory"
    else:
        what = f"ended by itself ({death.exit_code}) {last[0][:200]}".rstrip()
    return EngineUnavailable(f"the process that holds the model {what}")
