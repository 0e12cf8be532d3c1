"""All papers that are open, and the work on them.

Owns opening, reading, cancelling, drawing and closing. One event loop's thread does all of it; the
thread of a Streamlit script asks through `Desk.call`. Never knows of HTTP or Streamlit.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from moonpress.errors import InputEmpty, InputMissing, MoonpressError, root_cause
from moonpress.pipeline.render import RenderLimits, RenderPool
from moonpress.sources.base import SourceInfo
from moonpress.sources.page_range import select_pages
from moonpress.telemetry import event
from moonpress.ui.pictures import Pictures
from moonpress.ui.readers import Readers, Wanted
from moonpress.ui.reading import Reading, Stage
from moonpress.ui.settings import UiSettings

_Result = TypeVar("_Result")
_KEY_BYTES = 18


@dataclass(slots=True)
class Paper:
    """A document that a person dropped in.

    Attributes:
        id: Nobody can guess it: who knows it may see the paper.
        name: What the person calls it; never a path of this machine.
        path: The file, in a folder of ours.
        info: What is known of it.
        password: Of an encrypted PDF.
        readings: By engine.
        current: Engine of the reading that was begun last.
        touched: When somebody last looked, by the monotonic clock.
        revision: Counts changes.
    """

    id: str
    name: str
    path: Path
    info: SourceInfo
    password: str | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    current: str | None = None
    touched: float = field(default_factory=time.monotonic)
    revision: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def change(self) -> None:
        """Something is new: wake those who wait for it."""
        self.revision += 1
        self._changed.set()
        self._changed = anyio.Event()

    async def changed_since(self, revision: int, *, most_seconds: float) -> None:
        """Wait for a change after ``revision``, though not for ever."""
        if revision == self.revision:
            with anyio.move_on_after(most_seconds):
                await self._changed.wait()

    @property
    def busy(self) -> bool:
        """Whether it is being read."""
        return any(one.stage is Stage.RUNNING for one in self.readings.values())

    def reading(self, engine: str | None = None) -> Reading:
        """What an engine made of it; what was begun last when left out.

        Raises:
            InputMissing: that engine has not read it.
        """
        found = self.readings.get(engine or self.current or "")
        if found is None:
            raise InputMissing("it is not read yet", file=self.name, hint="Read it first")
        return found


class Desk:
    """The open papers of one server; made by `open_desk`."""

    def __init__(self, settings: UiSettings, folder: Path, tasks: TaskGroup) -> None:
        self.settings = settings
        self._folder = folder
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        workers = os.cpu_count() or 1
        self._pool = RenderPool(RenderLimits(), idle=workers)
        self._pictures = Pictures(self._pool, most_open=workers + 1)
        self.readers = Readers(settings, self._pool)
        self._papers: dict[str, Paper] = {}

    def call(self, work: Callable[..., Coroutine[Any, Any, _Result]], *arguments: Any) -> _Result:
        """Let the event loop do something, from another thread, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work(*arguments), self._loop).result()

    async def warm_up(self) -> None:
        """Have one render worker ready, so that the first document need not wait for it."""
        try:
            await self._pool.give_back(await self._pool.take())
        except Exception as error:  # noqa: BLE001 - the first document will tell
            event("no_render_worker", error=error)

    async def open(self, data: bytes, name: str, password: str | None = None) -> Paper:
        """Take a document in.

        Raises:
            InputError: it cannot be opened.
        """
        if not data:
            raise InputEmpty("the file is empty", file=name)
        key = secrets.token_urlsafe(_KEY_BYTES)
        folder = self._folder / key
        await anyio.to_thread.run_sync(_store, folder, data)
        path = folder / "document"
        try:
            info = await self._pictures.open(key, path, name=name, password=password)
        except BaseException:
            await anyio.to_thread.run_sync(_remove, folder)
            raise
        paper = Paper(key, name, path, info, password)
        self._papers[key] = paper
        await self._close_some()
        return paper

    async def paper(self, key: str) -> Paper:
        """An open paper.

        Raises:
            InputMissing: it is not open, or not any more.
        """
        found = self._papers.get(key)
        if found is None:
            raise InputMissing("this document is not open any more", hint="Drop it in again")
        found.touched = time.monotonic()
        return found

    async def close(self, key: str) -> None:
        """Put a paper away for good."""
        paper = self._papers.pop(key, None)
        if paper is not None:
            for reading in paper.readings.values():
                if reading.scope is not None:
                    reading.scope.cancel()
            await self._pictures.forget(key)
            await anyio.to_thread.run_sync(_remove, paper.path.parent)

    async def _close_some(self) -> None:
        idle = [paper for paper in self._papers.values() if not paper.busy]
        idle.sort(key=lambda paper: paper.touched)
        for paper in idle[: max(len(self._papers) - self.settings.kept_papers, 0)]:
            await self.close(paper.id)

    async def picture(self, paper: Paper, number: int, width: int) -> bytes:
        """A page as JPEG; see `Pictures.draw`."""
        return await self._pictures.draw(
            paper.id, number, width, path=paper.path, name=paper.name, password=paper.password
        )

    async def read(
        self, paper: Paper, engine: str, pages: str | None, *, shown: bool = True
    ) -> Reading:
        """Begin to read, and come back at once.

        Args:
            paper: What.
            engine: Who.
            pages: Such as ``1-3,7``; all when left out.
            shown: Whether this is from now on what the paper is shown with.

        Raises:
            PageRangeError: the selection makes no sense.
        """
        numbers = select_pages(pages or None, paper.info.page_count)
        reading = paper.readings.get(engine)
        if reading is None:
            folder = paper.path.parent / f"figures-{len(paper.readings)}"
            folder.mkdir()
            reading = paper.readings[engine] = Reading(engine, folder, paper.change)
        elif reading.stage is Stage.RUNNING:
            return reading
        if shown or paper.current is None:
            paper.current = engine
        reading.scope = anyio.CancelScope()
        reading.start(numbers)
        self._tasks.start_soon(self._read, paper, reading, reading.scope)
        return reading

    async def _read(self, paper: Paper, reading: Reading, scope: anyio.CancelScope) -> None:
        wanted = Wanted(paper.path, paper.name, reading.numbers, paper.password, reading.folder)
        error: str | None = None
        with scope:
            try:
                await self.readers.read(reading.engine, wanted, reading)
            except Exception as failure:  # noqa: BLE001 - the edge of one reading
                error = _in_a_line(root_cause(failure), paper.name)
        if scope.cancel_called:
            reading.end(Stage.CANCELLED)
        else:
            reading.end(Stage.DONE if error is None else Stage.FAILED, error)

    async def cancel(self, paper: Paper) -> None:
        """End the readings of a paper; pages that are out stay."""
        for reading in paper.readings.values():
            if reading.scope is not None:
                reading.scope.cancel()

    async def aclose(self) -> None:
        """Free processes and connections."""
        with anyio.CancelScope(shield=True):
            await self._pictures.aclose()
            await self.readers.aclose()
            await self._pool.aclose()


def _in_a_line(error: BaseException, name: str) -> str:
    if isinstance(error, MoonpressError):
        error.file = error.file or name
        return str(error)
    event("bug", error=error, document=name)
    cause = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{name}: a bug in Moonpress: {cause}. Please report it [bug]"


def _store(folder: Path, data: bytes) -> None:
    folder.mkdir(mode=0o700)
    (folder / "document").write_bytes(data)


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_desk(settings: UiSettings) -> AsyncIterator[Desk]:
    """A desk whose papers, processes and files are gone afterwards."""
    with TemporaryDirectory(prefix="moonpress-ui-", ignore_cleanup_errors=True) as folder:
        async with anyio.create_task_group() as tasks:
            desk = Desk(settings, Path(folder), tasks)
            tasks.start_soon(desk.warm_up)
            try:
                yield desk
            finally:
                tasks.cancel_scope.cancel()
                await desk.aclose()
