"""The parent's side of assembling: documents whose pages are all kept become stored documents.

Owns the worker process, what its failures mean, and the order in which a document is stored, marked
done and its pages forgotten. Never renders itself: see `moonpress.batch.assembler`.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from contextlib import suppress

import anyio
import anyio.to_thread

from moonpress.batch.assembler import SinkSettings, crops_folder
from moonpress.batch.assemblers import Assemblers
from moonpress.batch.entry import Entry
from moonpress.batch.ledger import Ledger
from moonpress.batch.sinks.base import Stored
from moonpress.errors import MoonpressError, NoSpace, OutputError
from moonpress.processes import WorkerDied, WorkerError, WorkerFailure, WorkerProcess
from moonpress.telemetry import event

# Thousands of pages with tables take a minute.
_LIMIT_SECONDS = 1800.0
# So many documents in a row are not to blame themselves: their place is.
_MOST_REFUSED = 10


def sweep_crops(ledger: Ledger) -> None:
    """Remove figures of stored documents, where a run was killed before it did; blocks.

    Only before anything is read: new figures are there before their pages are kept.
    """
    folder = crops_folder(ledger.path, 0).parent
    if folder.is_dir():
        kept = {str(key) for key in ledger.with_pages()}
        for crops in folder.iterdir():
            if crops.name not in kept:
                shutil.rmtree(crops, ignore_errors=True)


class Assembly:
    """One worker process that assembles and stores; calls take turns.

    Args:
        ledger: The run's.
        sink: Where documents go.
        engine_name: Who read the pages.
        assemblers: Where the process comes from; one of its own when left out.
    """

    def __init__(
        self,
        ledger: Ledger,
        sink: SinkSettings,
        engine_name: str,
        assemblers: Assemblers | None = None,
    ) -> None:
        self._ledger = ledger
        self._task = (ledger.path, sink, engine_name)
        self._assemblers = assemblers or Assemblers()
        self._holds_back = False
        self._worker: WorkerProcess | None = None
        self._taken: dict[str, Entry] = {}
        self._refused = 0

    async def prepare(self) -> None:
        """Start the worker process, so that a place nobody can write to is known at once.

        Raises:
            UsageError: there is no such place, or nothing is installed for it.
            NoSpace: the disk is full.
            OutputError: the place cannot be made or reached.
        """
        try:
            with suppress(WorkerDied):
                await self._ready_worker()
            await self._ready_worker()
        except WorkerFailure as failure:
            raise OutputError(f"documents cannot be stored: {failure}") from failure

    async def finish(self, entry: Entry) -> bool:
        """Store a document whose pages are all in the ledger, or note why that is impossible.

        Returns:
            Whether the sink has taken it.

        Raises:
            NoSpace: the disk is full: no other document would fare better.
            OutputError: the ledger cannot be written, or many documents in a row could not be.
        """
        try:
            stored = await self._call("finish", entry.key)
        except NoSpace:
            raise
        except MoonpressError as error:
            await self._fail(entry, error)
        except WorkerFailure as failure:
            detail = failure.detail if isinstance(failure, WorkerError) else ""
            event("assembler_bug", level=logging.ERROR, document=entry.item.id, detail=detail)
            await self._fail(entry, OutputError(f"it could not be written: {failure}"))
        else:
            self._refused = 0
            self._taken[entry.item.id] = entry
            await self._mark(stored)
            return True
        return False

    async def flush(self) -> None:
        """Store for good what the sink holds back, and take older copies out.

        Raises:
            OutputError: the sink or the ledger cannot be written.
        """
        if self._worker is not None:
            await self._mark(await self._guarded("flush"))
        old = await anyio.to_thread.run_sync(self._ledger.superseded)
        if old:
            await self._guarded("remove", old)
            await anyio.to_thread.run_sync(self._ledger.removed, old)
        self._holds_back = False

    async def aclose(self) -> None:
        """End the worker process, or give it back."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._holds_back:
            await worker.aclose()
        else:
            await self._assemblers.give_back(worker)

    async def _guarded(self, method: str, *args: object) -> list[Stored]:
        try:
            answer: list[Stored] = await self._call(method, *args)
        except WorkerFailure as failure:
            raise OutputError(f"documents could not be stored: {failure}") from failure
        return answer

    async def _call(self, method: str, *args: object) -> list[Stored]:
        try:
            answer = await self._call_once(method, *args)
        except WorkerDied as death:
            # It may have been in the way of something else: a new one decides.
            event("assembler_died", level=logging.WARNING, reason=str(death))
            answer = await self._call_once(method, *args)
        return answer

    async def _call_once(self, method: str, *args: object) -> list[Stored]:
        worker = await self._ready_worker()
        self._holds_back = True
        answer: list[Stored] = await worker.call(method, *args, timeout=_LIMIT_SECONDS)
        return answer

    async def _ready_worker(self) -> WorkerProcess:
        if self._worker is not None and self._worker.alive:
            return self._worker
        if self._worker is not None:
            await self._worker.aclose()
            self._worker = None
        self._worker = await self._assemblers.take()
        await self._worker.call("open", *self._task, timeout=_LIMIT_SECONDS)
        # What the last one had taken and not stored for good is gone with it.
        taken, self._taken = self._taken, {}
        for entry in taken.values():
            await self.finish(entry)
        return self._worker

    async def _mark(self, stored: Sequence[Stored]) -> None:
        if not stored:
            return
        for one in stored:
            self._taken.pop(one.id, None)
        freed = await anyio.to_thread.run_sync(self._ledger.done, stored)
        await anyio.to_thread.run_sync(self._drop_crops, freed)

    def _drop_crops(self, keys: Sequence[int]) -> None:
        for key in keys:
            shutil.rmtree(crops_folder(self._ledger.path, key), ignore_errors=True)

    async def _fail(self, entry: Entry, error: MoonpressError) -> None:
        event("document_failed", level=logging.ERROR, document=entry.item.id, error=error)
        await anyio.to_thread.run_sync(self._ledger.fail, entry.key, error)
        self._refused += 1
        if self._refused >= _MOST_REFUSED:
            message = f"{self._refused} documents in a row could not be stored"
            raise OutputError(
                f"{message}; the last: {error.message}",
                file=error.file,
                hint="Mend the cause, then chandra-batch retry and the same command: what was read "
                "is kept",
            ) from error
