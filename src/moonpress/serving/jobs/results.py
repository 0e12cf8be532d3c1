"""Whole documents of jobs, as files that are made once and sent as they are.

Owns when one is made, and where. Never makes it: see `moonpress.serving.jobs.result_writer`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from moonpress.errors import OutputError
from moonpress.processes import WorkerFailure, WorkerProcess
from moonpress.serving.answers import OutputFormat
from moonpress.serving.jobs.job import Job
from moonpress.serving.jobs.result_writer import write_result
from moonpress.serving.jobs.store import JobStore

_WRITER: Final = "moonpress.serving.jobs.result_writer:ResultWriter"
# Pages. To assemble 2,000 takes 16 CPU-seconds and 150 MB, which the service must not lack for its
# requests; to start a process takes one second.
_SHORT: Final = 50


class Results:
    """Results of the jobs in a store, one made after the other.

    Args:
        store: Where pages are kept.
    """

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._turns = anyio.CapacityLimiter(1)

    async def result(self, job: Job, form: OutputFormat) -> Path:
        """The file of a document all of whose pages are out; it is made where it is missing.

        Raises:
            JobMissing: the job is forgotten.
            NoSpace: the disk is full.
            OutputError: it cannot be made.
        """
        target = self._store.result(job, form)
        async with self._turns:
            if not target.exists():
                await self._make(job, form, target)
        return target

    async def _make(self, job: Job, form: OutputFormat, target: Path) -> None:
        wanted = (self._store.path, job.number, form, target)
        if job.selected is not None and job.selected <= _SHORT:
            await anyio.to_thread.run_sync(write_result, *wanted)
            return
        worker = WorkerProcess(_WRITER)
        try:
            await worker.start()
            await worker.call("write", *wanted)
        except WorkerFailure as error:
            message = f"the document could not be put together: {error}"
            raise OutputError(message, hint="Ask for its pages") from error
        finally:
            await worker.aclose()
