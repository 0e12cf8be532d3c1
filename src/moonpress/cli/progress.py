"""Who watches the pages of one document: a progress bar, or events.

Owns both observers. Never decides exit codes and never speaks after the last page: see `report`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moonpress.cli.voice import Voice, printable
from moonpress.document import Page, PageStatus
from moonpress.pipeline.convert import Observer
from moonpress.telemetry import event

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def watching(name: str, voice: Voice) -> Iterator[Observer]:
    """Watch one document: with a bar where a person looks on, with events otherwise."""
    if not voice.chatty:
        yield EventObserver(name)
        return
    progress = _new_bar()
    with progress:
        yield BarObserver(progress, progress.add_task(_label(name), total=None, note=""))


class EventObserver:
    """Records events; they are dropped unless somebody asked for them.

    Args:
        name: What the user calls the document.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def started(self, source: str, page_count: int) -> None:
        """Record how many pages will be read."""
        event("document_started", document=source, pages=page_count)

    def page_done(self, page: Page) -> None:
        """Record how a page ended and what is wrong with it."""
        failed = page.status is PageStatus.FAILED
        event(
            "page_done",
            level=logging.ERROR if failed else logging.INFO,
            document=self._name,
            page=page.number,
            status=page.status.value,
            engine=page.usage.engine,
            attempt=page.usage.attempts,
            seconds=round(page.usage.seconds, 3),
            problems=[{"code": p.code, "message": p.message} for p in page.problems],
        )


class BarObserver:
    """Moves a progress bar.

    Args:
        progress: Running.
        task: Its task for the document.
    """

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._failures = 0

    def started(self, source: str, page_count: int) -> None:
        """Show the bar's full length."""
        self._progress.reset(self._task, total=page_count, note="", description=_label(source))

    def page_done(self, page: Page) -> None:
        """Move on by one page."""
        self._failures += page.status is PageStatus.FAILED
        note = f"{self._failures} failed" if self._failures else ""
        self._progress.update(self._task, advance=1, note=note)


def _label(name: str) -> str:
    from rich.markup import escape

    return escape(printable(Path(name).name))


def _new_bar() -> Progress:
    """A bar on standard error that disappears when it is closed."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class SpeedColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.1f} pages/s" if speed else "- pages/s")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("pages"),
        TextColumn("[red]{task.fields[note]}"),
        SpeedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        # Enough for the eye; drawing ten times a second takes a fiftieth of a core.
        refresh_per_second=4,
    )
