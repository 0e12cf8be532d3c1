"""Results as JSON and as Markdown tables.

Owns the file formats. A run of one engine keeps what the file already has of the others.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Results = dict[str, Any]

_METRICS = (
    ("cer", "Character errors (%)"),
    ("wer", "Word errors (%)"),
    ("order", "Reading order (Kendall's tau scaled to %)"),
    ("found", "Blocks found (%)"),
    ("teds", "Tables: TEDS (%)"),
    ("cells", "Tables: exact cells (%)"),
    ("cpu_seconds", "CPU-seconds a page"),
)
_SHARES = {"cer", "wer", "order", "found", "teds", "cells"}


def load(path: Path) -> Results:
    """What an earlier run wrote; an empty frame when there is none."""
    if path.is_file():
        kept: Results = json.loads(path.read_text(encoding="utf-8"))
        return kept
    return {"engines": {}}


def save(path: Path, corpus: str, results: Results) -> None:
    """Write ``CORPUS.json`` and the tables beside it."""
    results["corpus"] = corpus
    results["machine"] = {
        "cpus": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    render = olmocr_tables if corpus.startswith("olmocr") else group_tables
    path.with_suffix(".md").write_text(render(results), encoding="utf-8")


def today() -> str:
    """The date of a measurement."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def group_tables(results: Results) -> str:
    """One table a metric, one row a group of pages, one column an engine."""
    engines: Mapping[str, Any] = results["engines"]
    groups = sorted({name for engine in engines.values() for name in engine["groups"]})
    parts = [_versions(engines)]
    for key, title in _METRICS:
        body = []
        for group in groups:
            found = [e["groups"].get(group, {}) for e in engines.values()]
            if any(row.get(key) is not None for row in found):
                pages = max(row.get("cases", 0) for row in found)
                body.append([group, f"{pages}", *(_cell(key, row.get(key)) for row in found)])
        if body:
            parts.append(f"### {title}\n\n{_table(['pages of', 'n', *engines], body)}")
    return "\n\n".join(parts) + "\n"


def olmocr_tables(results: Results) -> str:
    """Shares passed by engine: overall, by file of tests, by type of test, and what it cost."""
    engines: Mapping[str, Any] = results["engines"]
    files = sorted({f for e in engines.values() for f in e["scores"]["by_file"]})
    types = sorted({t for e in engines.values() for t in e["scores"]["by_type"]})
    head = ["engine", "overall", "page 1, no formulas", *files, "CPU-s a page"]
    by_file, by_type = [], []
    for name, engine in engines.items():
        scores = engine["scores"]
        by_file.append(
            [
                name,
                _cell("cer", scores["overall"]),
                _cell("cer", scores["page_1_without_formulas"]),
                *(_cell("cer", scores["by_file"].get(f)) for f in files),
                _cell("cpu_seconds", engine["cpu_seconds"]),
            ]
        )
        by_type.append([name, *(_cell("cer", scores["by_type"].get(t)) for t in types)])
    return "\n\n".join(
        [
            _versions(engines),
            f"### By file of tests (% passed)\n\n{_table(head, by_file)}",
            f"### By type of test (% passed)\n\n{_table(['engine', *types], by_type)}\n",
        ]
    )


def _versions(engines: Mapping[str, Any]) -> str:
    body = []
    for name, engine in engines.items():
        groups = engine.get("groups", {}).values()
        peak = engine.get("peak_mb") or max((g["peak_mb"] for g in groups), default=0.0)
        failed = len(engine.get("errors", ())) + sum(g["failed"] for g in groups)
        about = [name, engine["version"], engine["licence"], engine["date"]]
        body.append([*about, f"{peak:.0f}", str(failed)])
    return _table(["engine", "version", "licence", "measured", "peak MB", "failed"], body)


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return ""
    if key in _SHARES:
        return f"{100 * value:.1f}" if value >= 0.1 else f"{100 * value:.2f}"
    return f"{value:.2f}"


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
