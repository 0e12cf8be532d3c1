"""Who watches a batch run: a bar on a terminal, a plain line now and then elsewhere.

Owns what is shown while it runs. Never counts: see `moonpress.batch.meter`.
"""

from __future__ import annotations

import sys

import anyio

from moonpress.batch.meter import Meter
from moonpress.batch.stop import Stop
from moonpress.cli.voice import Voice
from moonpress.document import PageStatus

_BAR_SECONDS = 0.25
_BAR_WIDTH = 16
_LINE_SECONDS = 30.0


async def watch(meter: Meter, stop: Stop, voice: Voice) -> None:
    """Show how far the run is, until cancelled."""
    if voice.quiet or voice.json_logs:
        await anyio.sleep_forever()
    elif voice.chatty:
        await _bar(meter, stop)
    else:
        await _lines(meter, voice)


def summary(meter: Meter) -> str:
    """How far a run is, in one line: documents, pages, rates, failures, time left."""
    finished = meter.kept + meter.done + meter.failed
    if meter.total is None:
        documents = counted(finished, "document")
    else:
        documents = f"{finished:,} of {counted(meter.total, 'document')}"
    parts = [documents, counted(meter.pages, "page")]
    failures = meter.by_status.get(PageStatus.FAILED, 0)
    if failures:
        parts.append(f"{counted(failures, 'page')} failed")
    if meter.failed + meter.problems:
        parts.append(f"{counted(meter.failed + meter.problems, 'document')} failed")
    left = seconds_left(meter)
    if left is not None:
        parts.append(f"ETA {duration(left)}")
    # Rates come last: a narrow terminal shows the beginning.
    return ", ".join([*parts, *_rates(meter)])


def counted(number: int, thing: str) -> str:
    """``1 page``, ``2,000 pages``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _rates(meter: Meter) -> list[str]:
    seconds = meter.seconds
    if not meter.pages or not seconds:
        return []
    rates = [f"{meter.pages / seconds:.2f} pages/s"]
    if meter.done:
        rates.append(f"{meter.done / seconds * 3600:,.0f} papers/h")
    if meter.output_tokens:
        rates.append(f"{meter.output_tokens / seconds:,.0f} tokens/s")
    return rates


def seconds_left(meter: Meter) -> float | None:
    """Seconds until the last page, at the rate so far; ``None`` while nobody can tell.

    Documents that were not opened yet are taken to be as long as those that were.
    """
    opened = meter.opening.times
    if meter.total is None or not meter.pages or not opened:
        return None
    unopened = max(meter.total - meter.kept - meter.failed - opened, 0)
    left = max(meter.to_read - meter.pages, 0) + unopened * meter.to_read / opened
    return meter.seconds / meter.pages * left


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 20 s``, ``5 h 07 min``, ``3 d 4 h``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if days:
        return f"{days} d {hours_left} h"
    if hours:
        return f"{hours} h {minutes_left:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


async def _lines(meter: Meter, voice: Voice) -> None:
    while True:
        await anyio.sleep(_LINE_SECONDS)
        voice.say(summary(meter))


def _cut(text: str, room: int) -> str:
    """``text``, its end left out where it is longer than ``room``."""
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"


async def _bar(meter: Meter, stop: Stop) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(file=sys.stderr)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR_WIDTH),
        TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
        auto_refresh=False,
    )
    with progress:
        task = progress.add_task("Reading", total=None, note="")
        while True:
            finished = meter.kept + meter.done + meter.failed
            doing = "Finishing what is in flight" if stop.requested else "Reading"
            room = console.width - _BAR_WIDTH - len(doing) - 3
            progress.update(
                task,
                total=meter.total,
                completed=finished,
                note=_cut(summary(meter), room),
                description=doing,
            )
            progress.refresh()
            await anyio.sleep(_BAR_SECONDS)
