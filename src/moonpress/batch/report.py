"""The report of a run: what was read, how fast, what it cost, and what held it back.

Owns the figures. Never draws them: see `moonpress.batch.report_page`.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpress.batch import ledger_view
from moonpress.batch.bound import bound_of
from moonpress.batch.entry import Entry, State
from moonpress.batch.ledger_view import Counts
from moonpress.batch.meter import Meter
from moonpress.sources.inputs.item import InputProblem

REPORT_NAME = "report.json"
_FAILURES_LISTED = 1000


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run when it ends.

    Attributes:
        ledger: Its ledger.
        number: The run's, in the ledger; 0 when it did not even begin.
        engine: Who read.
        meter: Its counters.
        problems: Found, and could not even become documents.
        passed_over: Files whose suffix is none of a document.
        ended: ``complete``, ``stopped`` on request, or the code of the error that ended it.
        stopped_by: Number of the signal that asked it to stop, if one did.
        price_per_hour: Of the machines, in any currency; ``None`` when unknown.
    """

    ledger: Path
    number: int
    engine: str
    meter: Meter
    problems: list[InputProblem]
    passed_over: int
    ended: str
    stopped_by: int | None
    price_per_hour: float | None


def report_of(facts: RunFacts) -> dict[str, Any]:
    """The report, ready for JSON."""
    meter = facts.meter
    counts = ledger_view.counts(facts.ledger, run=facts.number)
    seconds = meter.seconds
    rate = meter.pages / seconds if seconds else 0.0
    bound = bound_of(meter)
    return {
        "run": facts.number,
        "ended": facts.ended,
        "at": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
        "engine": facts.engine,
        "seconds": round(seconds, 3),
        "documents": {**_documents(counts, meter), "passed_over": facts.passed_over},
        "pages": {
            "read_now": meter.pages,
            "by_status": {status.value: count for status, count in meter.by_status.items()},
            "selected": counts.selected,
            "failed": counts.failed,
            "partial": counts.partial,
        },
        "rates": {
            "pages_per_second": round(rate, 3),
            "papers_per_hour": round(meter.done / seconds * 3600, 1) if seconds else 0.0,
            "output_tokens_per_second": round(meter.output_tokens / seconds, 1) if seconds else 0,
        },
        "tokens": {"prompt": meter.prompt_tokens, "output": meter.output_tokens},
        "bound": {
            "by": bound.by,
            "evidence": bound.evidence,
            "busy": {name: round(share, 4) for name, share in bound.shares.items()},
        },
        "cost": _cost(facts, rate),
        "slowest": [_brief(entry) for entry in meter.slowest],
        "failed_documents": _failed_documents(facts),
        "failed_pages": _failed_pages(facts),
        "replaced": [{"id": key, "before": name} for key, name in meter.replaced.items()],
        "input_problems": [{"input": one.name, "error": str(one.error)} for one in facts.problems],
        "curve": [[round(at, 1), pages] for at, pages in (*meter.curve, (seconds, meter.pages))],
    }


def _documents(counts: Counts, meter: Meter) -> dict[str, int]:
    states = {state.value: counts.documents.get(state, 0) for state in State}
    return {
        "met": counts.total,
        "done_before": meter.kept - meter.kept_failed,
        "failed_before": meter.kept_failed,
        "done_now": meter.done,
        **states,
        "not_documents": meter.problems,
    }


def _cost(facts: RunFacts, rate: float) -> dict[str, float] | None:
    if facts.price_per_hour is None:
        return None
    spent = facts.price_per_hour * facts.meter.seconds / 3600
    per_thousand = facts.price_per_hour / 3600 / rate * 1000 if rate else 0.0
    return {
        "price_per_hour": facts.price_per_hour,
        "total": round(spent, 4),
        "per_1000_pages": round(per_thousand, 4),
    }


def _brief(entry: Entry) -> dict[str, Any]:
    return {"id": entry.item.id, "pages": entry.selected, "seconds": round(entry.seconds, 3)}


def _failed_documents(facts: RunFacts) -> list[dict[str, Any]]:
    failed = ledger_view.entries(facts.ledger, run=facts.number, state=State.FAILED)
    rows = []
    for entry, _ in zip(failed, range(_FAILURES_LISTED), strict=False):
        rows.append({"id": entry.item.id, "code": entry.code, "message": entry.message})
    return rows


def _failed_pages(facts: RunFacts) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "page": one.page.number,
            "problems": [{"code": p.code, "message": p.message} for p in one.page.problems],
        }
        for one in ledger_view.failed_pages(facts.ledger, run=facts.number, most=_FAILURES_LISTED)
    ]
