"""Memory over 2,000 pages: a run takes no more at its end than when it had warmed up."""

from __future__ import annotations

import subprocess
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import psutil
import pytest

from tests.batch.command import Batch, family, labelled_pdf

_PAGES = 2000
_EVERY_SECONDS = 0.25
# Python, the networks' libraries and the page in work are there after so many pages.
_WARM = 0.2
_GROWTH = 1.1


def _resident(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Bytes that the parent alone, and all processes together, keep in memory now."""
    sizes = []
    for one in family(process):
        try:
            sizes.append(one.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return sizes[0], sum(sizes)


def _watch(batch: Batch, process: subprocess.Popen[bytes]) -> list[tuple[int, int, int]]:
    """Pages taken so far and both sizes, several times a second, until the command ends."""
    log = Path(batch.env["SCRIPT_LOG"])
    seen = []
    while process.poll() is None:
        pages = log.read_bytes().count(b"gave ") if log.exists() else 0
        try:
            seen.append((pages, *_resident(process)))
        except psutil.NoSuchProcess:
            break
        time.sleep(_EVERY_SECONDS)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["many documents", "one document"])
def test_memory_stays_flat_over_2000_pages(batch: Batch, shape: str) -> None:
    counts = [50] * 40 if shape == "many documents" else [_PAGES]
    for index, count in enumerate(counts):
        (batch.inputs / f"{index:02}.pdf").write_bytes(labelled_pdf(f"document {index}", count))
    process = batch.start("--workers", "8", "-f", "markdown", SCRIPT_DELAY="0.05")

    seen = _watch(batch, process)

    assert batch.finish(process).code == 0
    assert batch.report()["pages"]["read_now"] == _PAGES
    warm = [one for one in seen if _PAGES * _WARM < one[0] < _PAGES]
    assert len(warm) >= 20, "too quick to be measured"
    for which, name in ((1, "parent"), (2, "all processes")):
        fifths = [len(warm) * part // 5 for part in range(6)]
        levels = [median(one[which] for one in warm[a:b]) for a, b in pairwise(fifths)]
        told = [f"{level / 2**20:.0f} MiB" for level in levels]
        assert levels[-1] <= levels[0] * _GROWTH, f"{name}: {told}"
