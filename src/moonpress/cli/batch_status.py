"""``chandra-batch status`` and ``retry``: how far a run is, and another try for what failed.

Owns what they print. Never reads documents.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from moonpress.batch import ledger_view
from moonpress.batch.entry import State
from moonpress.batch.ledger import Ledger
from moonpress.batch.manifest import status_of
from moonpress.cli.batch_progress import counted
from moonpress.cli.errors import SOME_PAGES_FAILED
from moonpress.cli.voice import Voice, printable

_SHOWN = 10


def show_status(run: str, *, as_json: bool, only_failed: bool) -> int:
    """Print how far the last run of a ledger is.

    Args:
        run: Output folder or ledger.
        as_json: One JSON object instead of lines.
        only_failed: List everything that failed, and nothing else.

    Returns:
        0 when all that the run met is read, 3 otherwise.

    Raises:
        InputMissing: there is no ledger.
    """
    path = ledger_view.find_ledger(Path(run))
    number = ledger_view.last_run(path)
    counts = ledger_view.counts(path, run=number)
    if as_json:
        facts: dict[str, Any] = {
            "ledger": str(path),
            "run": number,
            "engine": ledger_view.fact(path, "engine"),
            "documents": {state.value: counts.documents.get(state, 0) for state in State},
            "pages": {
                "selected": counts.selected,
                "failed": counts.failed,
                "partial": counts.partial,
            },
            "output_tokens": counts.output_tokens,
        }
        if only_failed:
            facts["failures"] = list(_failures(path, number))
        sys.stdout.write(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        lines = () if only_failed else _lines(counts, number)
        for line in lines:
            sys.stdout.write(f"{line}\n")
        failures = _failures(path, number)
        for index, failure in enumerate(failures):
            if index == _SHOWN and not only_failed:
                sys.stdout.write("and more: see --failed\n")
                break
            sys.stdout.write(f"{printable(failure)}\n")
    good = counts.documents.get(State.DONE, 0) == counts.total and not counts.failed
    return 0 if good else SOME_PAGES_FAILED


def forget_failures(run: str, voice: Voice) -> int:
    """Let what failed be tried again by the next run.

    Raises:
        InputMissing: there is no ledger.
        UsageError: a run is writing to it.
    """
    ledger = Ledger(ledger_view.find_ledger(Path(run)))
    try:
        count = ledger.try_again(only_unavailable=False)
    finally:
        ledger.close()
    if count:
        documents = counted(count, "document")
        voice.say(f"{documents} will be tried again: start the same command as before")
    else:
        voice.say("Nothing has failed, so there is nothing to try again")
    return 0


def _lines(counts: ledger_view.Counts, number: int) -> Iterator[str]:
    parts = [f"{counts.documents[s]:,} {s}" for s in State if counts.documents.get(s)]
    documents = counted(counts.total, "document")
    yield f"Run {number}: {documents}: {', '.join(parts) or 'none'}"
    yield (
        f"{counted(counts.selected, 'page')} of opened documents; {counts.failed:,} failed, "
        f"{counts.partial:,} read in part"
    )


def _failures(path: Path, number: int) -> Iterator[str]:
    for entry in ledger_view.entries(path, run=number, state=State.FAILED):
        yield f"{entry.item.id}: {entry.message} [{entry.code}]"
    for entry in ledger_view.entries(path, run=number):
        if entry.failed or entry.partial:
            counted = f"{entry.failed} failed, {entry.partial} read in part"
            yield f"{entry.item.id}: of {entry.selected} pages {counted} ({status_of(entry)})"
