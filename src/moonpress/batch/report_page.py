"""The report as a page for people: figures, a curve, bars, and what failed.

Owns the page. Never measures: see `moonpress.batch.report`.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from moonpress.outputs.plots import PLOT_STYLE, bars, curves

REPORT_PAGE_NAME = "report.html"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; color: #222; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
"""


def report_page(report: dict[str, Any]) -> str:
    """The report as one HTML page that needs nothing else."""
    bound = report["bound"]
    parts = [
        f"<h1>Run {report['run']}: {escape(report['ended'])}</h1>",
        _table(_figures(report)),
        f"<h2>Bound by {escape(bound['by'])}</h2><p>{escape(bound['evidence'])}.</p>",
        bars(bound["busy"]),
        "<h2>Pages over time</h2>",
        curves({"": report["curve"]}, "pages"),
        "<h2>Slowest documents</h2>",
        _table(
            (one["id"], f"{one['seconds']} s, {one['pages']} pages") for one in report["slowest"]
        ),
        "<h2>What failed</h2>",
        _table(_failures(report)),
    ]
    title = f'<meta charset="utf-8"><title>Run {report["run"]}</title>'
    head = f"{title}<style>{_STYLE}{PLOT_STYLE}</style>"
    return (
        f"<!doctype html>\n<html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>\n"
    )


def _figures(report: dict[str, Any]) -> Iterable[tuple[str, str]]:
    documents, pages, rates = report["documents"], report["pages"], report["rates"]
    yield "Engine", report["engine"]
    yield "Ended", report["at"]
    yield "Seconds", f"{report['seconds']:,}"
    yield "Documents", ", ".join(f"{count:,} {name}" for name, count in documents.items() if count)
    yield "Pages read now", f"{pages['read_now']:,}"
    yield "Pages failed", f"{pages['failed']:,}"
    yield "Pages read in part", f"{pages['partial']:,}"
    yield "Pages a second", f"{rates['pages_per_second']:,}"
    yield "Papers an hour", f"{rates['papers_per_hour']:,}"
    if report["tokens"]["output"]:
        yield "Output tokens a second", f"{rates['output_tokens_per_second']:,}"
    if report["cost"]:
        yield "Cost of 1,000 pages", f"{report['cost']['per_1000_pages']:.2f}"


def _failures(report: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for one in report["input_problems"]:
        yield one["input"], one["error"]
    for one in report["failed_documents"]:
        yield one["id"], f"{one['message']} [{one['code']}]"
    for one in report["failed_pages"]:
        reasons = "; ".join(f"{p['message']} [{p['code']}]" for p in one["problems"])
        yield f"{one['id']}, page {one['page']}", reasons


def _table(rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table>{body}</table>" if body else "<p>Nothing.</p>"
