"""Command line: ``python -m benchmarks.speed --out results/ [--only digital --only help]``.

Owns running each measurement in a process of its own and the report.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import MEASURES

# Measurement, its number, the bar, whether more is better, unit.
_BARS = (
    ("digital", "cpu_seconds_per_page", 0.45, False, "CPU-s a page, born-digital"),
    ("digital-fast", "cpu_seconds_per_page", 0.45, False, "CPU-s a page, born-digital, --fast"),
    ("scan", "cpu_seconds_per_page", 3.0, False, "CPU-s a page, scan"),
    ("scan-fast", "cpu_seconds_per_page", 1.0, False, "CPU-s a page, scan, --fast"),
    ("two-processes", "gain", 1.7, True, "speed of two processes against one"),
    ("scan", "peak_mb", 1500.0, False, "MB, peak on scans, all processes"),
    ("memory", "peak_mb", 1500.0, False, "MB, peak over 500 pages, all processes"),
    ("memory", "growth_mb", 50.0, False, "MB, growth from page 100 to page 450"),
    ("help", "median_s", 0.4, False, "s, chandra-pdf --help"),
    ("first-page", "median_s", 6.0, False, "s, first page of a paper after start"),
)
_LIMIT = 3600


def main() -> None:
    """Measure and write ``speed.json`` and ``speed.md``; what was measured before is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--only", action="append", choices=list(MEASURES), default=[])
    options = parser.parse_args()
    target = options.out / "speed.json"
    results: dict[str, Any] = json.loads(target.read_text()) if target.is_file() else {}
    for name in options.only or MEASURES:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.speed.measure", name],
            stdout=subprocess.PIPE,
            text=True,
            timeout=_LIMIT,
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        day = dt.datetime.now(tz=dt.UTC).date().isoformat()
        results[name] = {**json.loads(done.stdout.splitlines()[-1]), "date": day}
        options.out.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (options.out / "speed.md").write_text(_table(results), encoding="utf-8")
    sys.stdout.write(_table(results))


def _table(results: dict[str, Any]) -> str:
    rows = ["| what | measured | bar | date |", "| --- | --- | --- | --- |"]
    for name, key, bar, more, title in _BARS:
        if name in results:
            value = results[name][key]
            met = value >= bar if more else value <= bar
            sign = "≥" if more else "≤"
            number = f"{value:.2f}" if bar < 50 else f"{value:.0f}"
            mark = "" if met else " (missed)"
            rows.append(f"| {title} | {number}{mark} | {sign} {bar:g} | {results[name]['date']} |")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return "\n".join(rows) + f"\n\nMeasured on {machine}.\n"


if __name__ == "__main__":
    main()
