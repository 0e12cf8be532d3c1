"""The speed measurements read what they say they read, and the report tells a missed bar."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from benchmarks import process_tree
from benchmarks.speed import __main__ as report
from benchmarks.speed import measure
from tests.generators import join_pages, prose


def test_scans_are_spread_among_digital_pages() -> None:
    page = prose.ragged()
    data = measure._with_scans(join_pages([page] * 6), measure._scans([page]), every=3)
    with pdfium.PdfDocument(data) as document:
        has_text = [bool(p.get_textpage().count_chars()) for p in document]
    assert has_text == [True] * 3 + [False] + [True] * 3 + [False]


def test_report_marks_a_missed_bar() -> None:
    slow = {"help": {"median_s": 0.9, "date": "2031-01-01"}}
    assert "0.90 (missed)" in report._table(slow)
    assert "(missed)" not in report._table({"help": {"median_s": 0.2, "date": "2031-01-01"}})


def test_descendants_are_counted(tmp_path: Path) -> None:
    code = "import sys, time; b = time.process_time()\nwhile time.process_time() - b < .3: pass\n"
    before = process_tree.cpu_seconds()
    child = subprocess.Popen(
        [sys.executable, "-c", code + "print('done', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        assert child.pid in process_tree.descendants()
        assert process_tree.cpu_seconds() - before >= 0.28
        assert process_tree.peak_mb() > process_tree.resident_mb() * 0.5 > 1
    finally:
        child.communicate()


@pytest.mark.slow
def test_a_measurement_runs_by_itself(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.measure", "help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        timeout=120,
    )
    assert json.loads(done.stdout)["best_s"] > 0
