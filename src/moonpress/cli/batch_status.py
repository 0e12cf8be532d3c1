"""``chandra-batch status`` and ``retry``: how far a run is, and another try for what failed.

Owns what they print. Never reads documents.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
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
    found = ledger_view.find_ledgers(Path(run))
    runs = [(path, ledger_view.last_run(path)) for path in found.paths]
    counts = _sum([ledger_view.counts(path, run=number) for path, number in runs])
    failures = (line for path, number in runs for line in _failures(path, number))
    if as_json:
        facts = _facts(found, runs, counts)
        if only_failed:
            facts["failures"] = list(failures)
        sys.stdout.write(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        lines = () if only_failed else _lines(counts, max(number for _, number in runs), found)
        for line in lines:
            sys.stdout.write(f"{line}\n")
        for index, failure in enumerate(failures):
            if index == _SHOWN and not only_failed:
                sys.stdout.write("and more: see --failed\n")
                break
            sys.stdout.write(f"{printable(failure)}\n")
    good = counts.documents.get(State.DONE, 0) == counts.total and not counts.failed
    return 0 if good and len(found.paths) >= found.parts else SOME_PAGES_FAILED


def _facts(
    found: ledger_view.RunLedgers, runs: list[tuple[Path, int]], counts: ledger_view.Counts
) -> dict[str, Any]:
    path = found.paths[0]
    facts: dict[str, Any] = {
        "ledger": str(path),
        "run": max(number for _, number in runs),
        "engine": ledger_view.fact(path, "engine"),
        "documents": {state.value: counts.documents.get(state, 0) for state in State},
        "pages": {
            "selected": counts.selected,
            "failed": counts.failed,
            "partial": counts.partial,
        },
        "output_tokens": counts.output_tokens,
    }
    if found.parts > 1:
        facts["ledger"] = [str(path) for path in found.paths]
        facts["parts"] = {"of": found.parts, "begun": len(found.paths)}
    return facts


def _sum(parts: Sequence[ledger_view.Counts]) -> ledger_view.Counts:
    documents: Counter[State] = Counter()
    for one in parts:
        documents.update(one.documents)
    return ledger_view.Counts(
        documents=documents,
        selected=sum(one.selected for one in parts),
        failed=sum(one.failed for one in parts),
        partial=sum(one.partial for one in parts),
        output_tokens=sum(one.output_tokens for one in parts),
    )


def forget_failures(run: str, voice: Voice) -> int:
    """Let what failed be tried again by the next run.

    Raises:
        InputMissing: there is no ledger.
        UsageError: a run is writing to it.
    """
    count = 0
    for path in ledger_view.find_ledgers(Path(run)).paths:
        ledger = Ledger(path)
        try:
            count += ledger.try_again(only_unavailable=False)
        finally:
            ledger.close()
    if count:
        documents = counted(count, "document")
        voice.say(f"{documents} will be tried again: start the same command as before")
    else:
        voice.say("Nothing has failed, so there is nothing to try again")
    return 0


def _lines(counts: ledger_view.Counts, number: int, found: ledger_view.RunLedgers) -> Iterator[str]:
    if found.parts > 1:
        yield f"{len(found.paths)} of {found.parts} parts have begun"
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
