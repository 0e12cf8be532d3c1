"""What ``chandra-batch`` does after its options are read: inputs to documents to a report.

Owns the order of the steps. Never parses options, never words errors, and never decides what is
read: see `moonpress.batch`.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from moonpress.batch.assembler import SinkSettings
from moonpress.batch.cluster_meter import ClusterMeter
from moonpress.batch.cluster_run import ClusterParts, run_on_cluster
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Meter
from moonpress.batch.report import RunFacts
from moonpress.batch.request import BatchRequest, ReadingChoices
from moonpress.batch.sinks.scratch import Scratch
from moonpress.batch.start import ENGINE_FACT, run_batch
from moonpress.batch.stop import Stop
from moonpress.cli.batch_dry_run import dry_run
from moonpress.cli.batch_end import end_run
from moonpress.cli.batch_places import Places, part_of, places_for
from moonpress.cli.batch_progress import watch
from moonpress.cli.batch_search import Search
from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.errors import NOTHING_READ, describe
from moonpress.cli.interrupts import run_interruptible
from moonpress.cli.voice import Voice
from moonpress.document import Delimiters, RenderOptions
from moonpress.document.rendering import find_output
from moonpress.engines.base import Engine
from moonpress.engines.registry import create_engine
from moonpress.errors import MoonpressError, UsageError, root_cause
from moonpress.outputs.disk import output_errors
from moonpress.pipeline.convert import DRAWING_SECONDS
from moonpress.processes.memory import return_large_blocks
from moonpress.sources.inputs.item import InputProblem
from moonpress.sources.page_range import check_selection

Read = Callable[[], Awaitable[list[InputProblem]]]
_AUTO = "auto"


@dataclass(frozen=True, slots=True)
class BatchCommand:
    """One call of ``chandra-batch``; the fields are its options."""

    inputs: tuple[str, ...]
    pages: str | None
    password: str | None
    dpi: float | None
    max_image_width: int | None
    limit: int | None
    arxiv_url: str | None
    output: str | None
    sink: str
    formats: tuple[str, ...]
    headers_footers: bool
    page_anchors: bool
    delimiters: str
    shard: str | None
    ray: str | None
    ledger: str | None
    engine_wait: float
    price_per_hour: float | None
    dry_run: bool
    reading: EngineChoice


def run_command(command: BatchCommand, voice: Voice) -> int:
    """Read all documents that are not read yet.

    Returns:
        The exit code.

    Raises:
        MoonpressError: what concerns more than one document.
    """
    return_large_blocks()
    check_selection(command.pages)
    for name in command.formats:
        find_output(name)
    part = part_of(command.shard)
    if part is not None and command.ray is not None:
        raise UsageError("--shard and --ray exclude each other", hint="Leave one of them out")
    with _scratch() as scratch:
        search = Search(
            command.inputs,
            scratch,
            part=part,
            limit=command.limit,
            arxiv=command.arxiv_url,
        )
        if command.dry_run:
            return dry_run(search, command, voice)
        missing = search.nothing_there()
        if missing:
            # A mistyped name leaves no folder behind.
            for problem in missing:
                voice.say(f"error: {describe(problem.error)}")
            return NOTHING_READ
        places = places_for(command.inputs, command.output, command.ledger, part)
        search.leave_out = (Path(places.root), places.ledger.parent)
        request = _request(command, places)
        ledger = Ledger(places.ledger)
        try:
            return _Command(command, request, search, voice).run(ledger, places)
        finally:
            ledger.close()


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for copies of remote files: what a killed run left, the next one removes."""
    parent = Path(tempfile.gettempdir())
    with output_errors(str(parent)):
        scratch = Scratch(parent)
        folder = scratch.folder
    try:
        yield folder
    finally:
        scratch.close()


@dataclass(frozen=True, slots=True)
class _Command:
    """A run that is about to start."""

    command: BatchCommand
    request: BatchRequest
    search: Search
    voice: Voice

    def run(self, ledger: Ledger, places: Places) -> int:
        """Run, write manifest and report however that ended, and tell the exit code."""
        stop, before = Stop(), ledger.run
        meter = Meter() if self.command.ray is None else ClusterMeter()
        error: MoonpressError | None = None
        problems: list[InputProblem] = []
        try:
            with self._reader(ledger, meter, stop) as read:
                problems = run_interruptible(
                    partial(self._watched, read, meter, stop),
                    ask=partial(_ask, stop, self.voice),
                )
        except (MoonpressError, BaseExceptionGroup) as raised:
            cause = root_cause(raised)
            if not isinstance(cause, MoonpressError):
                raise
            error = cause
        facts = RunFacts(
            ledger=ledger.path,
            number=0 if ledger.run == before else ledger.run,
            engine=ledger.fact(ENGINE_FACT) or "",
            meter=meter,
            problems=problems,
            passed_over=self.search.skipped,
            ended=error.code if error else "stopped" if stop.requested else "complete",
            stopped_by=stop.signal_number if stop.requested else None,
            price_per_hour=self.command.price_per_hour,
        )
        return end_run(facts, places, error, self.voice)

    @contextmanager
    def _reader(self, ledger: Ledger, meter: Meter, stop: Stop) -> Iterator[Read]:
        """What reads: an engine here, or a cluster."""
        choice = self.command.reading
        name = _engine_name(choice.engine, ledger)
        options = choice.options(self.voice)
        if self.command.ray is not None and isinstance(meter, ClusterMeter):
            from moonpress.batch.ray_run import RayCluster, connected, worker_setup

            with connected(self.command.ray):
                setup = worker_setup(self.request, name, options)
                say = _quiet if self.voice.quiet else self.voice.say
                parts = ClusterParts(setup.request, ledger, RayCluster(setup), meter, stop, say)
                yield partial(run_on_cluster, parts, self.search.items())
        else:
            engine = create_engine(name, options)
            yield partial(self._here, engine, ledger, meter, stop)

    async def _here(
        self, engine: Engine, ledger: Ledger, meter: Meter, stop: Stop
    ) -> list[InputProblem]:
        async with aclosing(engine):
            return await run_batch(
                self.request,
                ledger=ledger,
                engine=engine,
                opener=self.search.opener,
                items=self.search.items(),
                meter=meter,
                stop=stop,
            )

    async def _watched(self, read: Read, meter: Meter, stop: Stop) -> list[InputProblem]:
        async with anyio.create_task_group() as watching:
            watching.start_soon(watch, meter, stop, self.voice)
            watching.start_soon(_count, self.search, meter)
            problems = await read()
            watching.cancel_scope.cancel()
        return problems


def _quiet(_line: str) -> None:
    return


def _ask(stop: Stop, voice: Voice, signal_number: int) -> None:
    stop.request(signal_number)
    voice.say("Finishing the pages in flight; once more stops at once")


async def _count(search: Search, meter: Meter) -> None:
    """Look ahead for the number of documents, so that the time left can be told."""
    gone = threading.Event()
    try:
        meter.total = await anyio.to_thread.run_sync(
            partial(search.count, gone), abandon_on_cancel=True
        )
    finally:
        gone.set()


def _engine_name(wanted: str, ledger: Ledger) -> str:
    """``auto`` stays with the engine that the run began with: it must not mix two unasked."""
    before = ledger.fact(ENGINE_FACT)
    return before if wanted == _AUTO and before else wanted


def _request(command: BatchCommand, places: Places) -> BatchRequest:
    reading = command.reading
    return BatchRequest(
        reading=ReadingChoices(
            pages=command.pages,
            dpi=command.dpi,
            max_image_width=command.max_image_width,
            fast=reading.fast,
            ocr=reading.ocr,
            languages=reading.languages,
            model=reading.model,
            image_format=reading.image_format,
            confidence=reading.confidence,
        ),
        sink=SinkSettings(
            kind=command.sink,
            root=places.root,
            formats=command.formats,
            options=RenderOptions(
                delimiters=Delimiters(command.delimiters),
                headers_footers=command.headers_footers,
                page_anchors=command.page_anchors,
            ),
        ),
        ledger=places.ledger,
        password=command.password,
        page_timeout=reading.page_timeout or DRAWING_SECONDS,
        patience=command.engine_wait,
        limit=command.limit,
    )
