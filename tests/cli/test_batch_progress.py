"""The line that people watch while a batch runs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from moonpress.batch.meter import Meter
from moonpress.cli.batch_progress import counted, duration, seconds_left, summary
from moonpress.document import Page, PageStatus
from tests.cli.command import clean_environment, install_scripted_engine
from tests.cli.small_pdf import small_pdf

_COMMAND = Path(sys.executable).parent / "chandra-batch"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.4, "0 s"),
        (42, "42 s"),
        (200, "3 min 20 s"),
        (59.7, "1 min 00 s"),
        (18_420, "5 h 07 min"),
        (273_700, "3 d 4 h"),
    ],
)
def test_durations_are_read_at_a_glance(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_numbers_agree_with_their_nouns() -> None:
    assert counted(1, "page") == "1 page"
    assert counted(0, "page") == "0 pages"
    assert counted(20_000, "document") == "20,000 documents"


def test_what_counts_most_comes_first() -> None:
    meter = Meter()
    meter.began -= 100
    meter.total, meter.kept, meter.done, meter.failed = 1210, 200, 9, 1
    for status in (PageStatus.OK, PageStatus.FAILED):
        meter.page_out(Page(number=1, size=None, status=status))
    # Ten were opened, with two pages each; a page takes 50 s.
    meter.opening.times, meter.to_read = 10, 20
    left = seconds_left(meter)
    assert left == pytest.approx(50 * (18 + 2 * 999), rel=0.01)
    parts = summary(meter).split(", ")
    assert parts[0] == "210 of 1,210 documents"
    assert parts[1:4] == ["2 pages", "1 page failed", "1 document failed"]
    assert parts[4] == "ETA 1 d 4 h"
    assert parts[5].endswith(" pages/s")


def test_the_time_left_is_told_only_when_it_is_known() -> None:
    meter = Meter()
    assert seconds_left(meter) is None
    meter.total = 10
    assert seconds_left(meter) is None
    assert summary(meter) == "0 of 10 documents, 0 pages"


def test_a_terminal_shows_a_bar_of_one_line(tmp_path: Path) -> None:
    install_scripted_engine(tmp_path / "plugins")
    (tmp_path / "in").mkdir()
    for index in range(3):
        (tmp_path / "in" / f"{index}.pdf").write_bytes(small_pdf(10))
    ours, theirs = pty.openpty()
    env = clean_environment(tmp_path / "plugins")
    process = subprocess.Popen(
        [_COMMAND, "in", "-o", "out"],
        cwd=tmp_path,
        env={**env, "COLUMNS": "60", "MOONPRESS_ENGINE": "scripted", "SCRIPTED_DELAY": "0.1"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = _all_of(ours)
    assert process.wait(60) == 0
    bars = [line for line in shown.splitlines() if "Reading" in line]
    assert any("of 3 documents, " in line for line in bars)
    # Colours and movements of the cursor are not text; a bar that wraps would move it further up.
    assert "\x1b[2A" not in shown
    assert "Wrote out; report: out/report.html" in shown


def _all_of(terminal: int) -> str:
    """What a terminal gets until nobody writes to it any more."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
