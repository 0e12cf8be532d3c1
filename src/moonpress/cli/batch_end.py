"""What ``chandra-batch`` leaves and says at the end of a run, and its exit code.

Owns writing manifest and report, the closing lines and the exit code. Never reads documents.
"""

from __future__ import annotations

from typing import Any

import orjson

from moonpress.batch import ledger_view
from moonpress.batch.entry import State
from moonpress.batch.manifest import MANIFEST_NAME, write_manifest
from moonpress.batch.report import REPORT_NAME, RunFacts, report_of
from moonpress.batch.report_page import REPORT_PAGE_NAME, report_page
from moonpress.cli.batch_places import Places
from moonpress.cli.batch_progress import counted, duration, summary
from moonpress.cli.errors import BY_SIGNAL, NOTHING_READ, SOME_PAGES_FAILED, describe
from moonpress.cli.voice import Voice, printable
from moonpress.errors import InputMissing, MoonpressError
from moonpress.outputs.disk import write_whole
from moonpress.telemetry import event

_LINES = 10


def end_run(facts: RunFacts, places: Places, error: MoonpressError | None, voice: Voice) -> int:
    """Write manifest and report, tell what happened.

    Args:
        facts: About the run.
        places: Where they go.
        error: What ended the run, if something did.
        voice: How to talk.

    Returns:
        The exit code.

    Raises:
        MoonpressError: ``error``, once the rest is done; or manifest or report cannot be written.
    """
    if facts.number == 0 and error is not None:
        # Nothing began: what stands there tells of an earlier run.
        raise error
    report = report_of(facts)
    try:
        write_manifest(facts.ledger, facts.number, places.reports / MANIFEST_NAME)
        write_whole(places.reports / REPORT_NAME, orjson.dumps(report, option=orjson.OPT_INDENT_2))
        write_whole(places.reports / REPORT_PAGE_NAME, report_page(report).encode())
    except MoonpressError:
        # A full disk is told once.
        if error is None:
            raise
    _tell_failures(facts, report, voice)
    _tell_end(facts, report, places, voice)
    if error is not None:
        raise error
    if facts.stopped_by is not None:
        return BY_SIGNAL + facts.stopped_by
    return exit_code(facts)


def exit_code(facts: RunFacts) -> int:
    """0 when all is read, 3 when something failed, 4 when nothing could be read.

    Raises:
        InputMissing: there were no documents at all.
    """
    counts = ledger_view.counts(facts.ledger, run=facts.number)
    problems = facts.meter.problems
    if not counts.total and not problems:
        raise InputMissing("there are no documents among the inputs", hint="Check the paths")
    read = counts.selected - counts.failed
    if not counts.documents.get(State.DONE, 0) or not read:
        return NOTHING_READ
    missing = counts.total - counts.documents[State.DONE]
    failed = missing + counts.failed + counts.partial + problems
    return SOME_PAGES_FAILED if failed else 0


def _tell_failures(facts: RunFacts, report: dict[str, Any], voice: Voice) -> None:
    """One line for each of the first failures; the manifest has all documents."""
    lines = [f"error: {describe(problem.error)}" for problem in facts.problems[:_LINES]]
    lines += [
        f"error: {printable(one['id'])}: {one['message']} [{one['code']}]"
        for one in report["failed_documents"][:_LINES]
    ]
    for one in report["failed_pages"][:_LINES]:
        reason = one["problems"][-1] if one["problems"] else {"message": "?", "code": "unknown"}
        where = f"{printable(one['id'])}, page {one['page']}"
        lines.append(f"error: {where}: {reason['message']} [{reason['code']}]")
    if facts.meter.replaced:
        item_id, before = next(iter(facts.meter.replaced.items()))
        count = counted(len(facts.meter.replaced), "document")
        lines.append(
            f"warning: {count} took the place of others that had the same ids in an earlier run, "
            f"such as {printable(item_id)}, before {printable(before)}"
        )
    for line in lines:
        voice.say(line)
    listed = ("input_problems", "failed_documents", "failed_pages")
    more = sum(max(len(report[name]) - _LINES, 0) for name in listed)
    if more:
        voice.say(f"error: {more} more failures: see {REPORT_NAME}")


def _tell_end(facts: RunFacts, report: dict[str, Any], places: Places, voice: Voice) -> None:
    event(
        "run_ended",
        run=facts.number,
        ended=facts.ended,
        documents=report["documents"],
        pages=report["pages"],
        rates=report["rates"],
        bound=report["bound"]["by"],
    )
    # Where there is nothing to tell of, the lines about it would hide why.
    if voice.quiet or not report["documents"]["met"]:
        return
    meter = facts.meter
    meter.total = None
    voice.say(f"{summary(meter)}, in {duration(meter.seconds)}")
    if facts.passed_over:
        files = "file" if facts.passed_over == 1 else "files"
        voice.say(f"Passed over {facts.passed_over:,} {files} without the suffix of a document")
    if meter.pages:
        voice.say(f"Bound by {report['bound']['by']}: {report['bound']['evidence']}")
    if report["cost"]:
        voice.say(f"{report['cost']['per_1000_pages']:.2f} for 1,000 pages")
    if facts.ended != "complete":
        voice.say("Not finished: the same command goes on from here")
    page = places.reports / REPORT_PAGE_NAME
    wrote = bool(report["documents"]["done"])
    voice.say(f"Wrote {places.root}; report: {page}" if wrote else f"Report: {page}")
