"""What ``chandra-bench accuracy`` does after its options are read.

Owns the order of the steps and the words of the result. Never scores: see
`moonpress.bench.accuracy`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.errors import NOTHING_READ, SOME_PAGES_FAILED
from moonpress.cli.interrupts import run_interruptible
from moonpress.cli.voice import Voice, printable
from moonpress.engines.base import Engine
from moonpress.engines.registry import create_engine
from moonpress.errors import EngineUnavailable
from moonpress.outputs.disk import write_whole
from moonpress.pipeline.convert import DRAWING_SECONDS, ConvertSettings

if TYPE_CHECKING:
    from moonpress.bench.accuracy import Pair, Reading, Score

_COLUMNS: Final = ("cer", "wer", "order", "found", "teds", "cells")


@dataclass(frozen=True, slots=True)
class AccuracyCommand:
    """One call of ``chandra-bench accuracy``; the fields are its options."""

    folder: str
    dpi: float | None
    output: str | None
    as_json: bool
    reading: EngineChoice


def run_accuracy(command: AccuracyCommand, voice: Voice) -> int:
    """Read all documents that have a truth, and print how well.

    Returns:
        0 when every page was read, 3 when some were not, 4 when none was.

    Raises:
        UsageError: there is nothing to compare.
        InputError: the folder or a truth cannot be read.
        EngineUnavailable: the engine, or a package, is not there.
    """
    try:
        from moonpress.bench import accuracy
    except ModuleNotFoundError as error:
        message = f"measuring accuracy needs the package {error.name}, which is not installed"
        raise EngineUnavailable(message, hint="Run pip install 'moonpress[bench]'") from error
    pairs = accuracy.find_pairs(Path(command.folder))
    engine = create_engine(command.reading.engine, command.reading.options(voice))
    readings = run_interruptible(lambda: _read_all(pairs, engine, command, voice))
    scores = [accuracy.score(pair, reading) for pair, reading in zip(pairs, readings, strict=True)]
    means = accuracy.summary(scores, readings)
    report = {
        "engine": engine.name,
        "summary": means,
        "documents": [
            {**asdict(one), "pages": reading.pages, "error": reading.error}
            for one, reading in zip(scores, readings, strict=True)
        ],
    }
    text = orjson.dumps(report, option=orjson.OPT_INDENT_2)
    if command.output is not None:
        _keep(Path(command.output), Path(command.folder), pairs, readings, text)
    shown = text.decode() if command.as_json else "\n".join(_lines(scores, means))
    sys.stdout.write(shown + "\n")
    return _exit_code(readings)


async def _read_all(
    pairs: Sequence[Pair], engine: Engine, command: AccuracyCommand, voice: Voice
) -> list[Reading]:
    from moonpress.bench.accuracy import read_one

    settings = ConvertSettings(
        dpi=command.dpi, page_timeout=command.reading.page_timeout or DRAWING_SECONDS
    )
    readings = []
    async with aclosing(engine):
        for pair in pairs:
            reading = await read_one(pair, engine, settings)
            readings.append(reading)
            if reading.error is not None:
                voice.say(f"error: {reading.error}")
            elif not voice.quiet:
                voice.say(f"Read {pair.document} in {reading.seconds:.1f} s")
    return readings


def _keep(
    target: Path, folder: Path, pairs: Sequence[Pair], readings: Sequence[Reading], report: bytes
) -> None:
    """Write what was read, to be looked at, and the report."""
    for pair, reading in zip(pairs, readings, strict=True):
        path = target / pair.document.relative_to(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path.with_name(f"{path.name}.md"), reading.markdown.encode())
    write_whole(target / "accuracy.json", report)


def _lines(scores: Sequence[Score], means: dict[str, Any]) -> list[str]:
    width = max(len("mean"), *(len(printable(one.document)) for one in scores))
    head = f"{'':{width}}" + "".join(f"{name:>8}" for name in _COLUMNS)
    rows = [_row(printable(one.document), width, asdict(one)) for one in scores]
    total = f"{means['documents']} documents, {means['pages']} pages"
    failed = f"{means['failed_documents']} documents and {means['failed_pages']} pages failed"
    return [head, *rows, _row("mean", width, means), f"{total}; {failed}"]


def _row(name: str, width: int, values: dict[str, Any]) -> str:
    cells = ("-" if values[key] is None else f"{values[key]:.4f}" for key in _COLUMNS)
    return f"{name:{width}}" + "".join(f"{cell:>8}" for cell in cells)


def _exit_code(readings: Sequence[Reading]) -> int:
    failed = sum(one.failed_pages + (one.error is not None) for one in readings)
    if not any(one.pages > one.failed_pages for one in readings):
        return NOTHING_READ
    return SOME_PAGES_FAILED if failed else 0
