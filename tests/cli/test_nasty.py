"""Every hostile file of the shared data through the real command, against its manifest."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Chandra
from tests.conftest import shared_folder

_SECONDS = 30
_PATIENCE = 150
_CODES = {
    "ok": {0},
    "ok-or-clean-error": {0, 3, 4},
    "clean-error": {2, 4},
    "needs-password": {4},
}


def _manifest() -> list[dict[str, Any]]:
    path = shared_folder() / "data" / "nasty_manifest.json"
    return json.loads(path.read_bytes()) if path.is_file() else []


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("entry", _manifest(), ids=lambda entry: entry["file"])
def test_nasty(chandra: Chandra, shared: Path, entry: dict[str, Any]) -> None:
    # Text layers only: what these files attack is opening and drawing, and OCR of 400 pages
    # would take long. Two pages show what the rest would.
    source = shared / "data" / "nasty" / entry["file"]
    options = ("-o", "out/", "--ocr", "never", "--workers", "1", *_few_pages(entry))

    began, worked = time.monotonic(), _cpu_seconds()
    result = chandra(source, *options, timeout=_PATIENCE)

    # On a busy machine every run takes long; what hangs takes both long.
    assert min(time.monotonic() - began, _cpu_seconds() - worked) < _SECONDS
    assert result.code in _CODES[entry["expect"]], result.err
    _check_ending(chandra, result.code, result.err, entry["file"])
    if password := entry.get("password"):
        opened = chandra(source, *options, "--password", password, timeout=_PATIENCE)
        assert opened.code == 0, opened.err


def _cpu_seconds() -> float:
    """What all commands run so far have taken."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _few_pages(entry: dict[str, Any]) -> tuple[str, ...]:
    probe = entry.get("probe", "")
    return ("--pages", "1-2") if "pages=" in probe and "pages=1 " not in probe else ()


def _check_ending(chandra: Chandra, code: int, err: str, name: str) -> None:
    lines = err.splitlines()
    assert all(line.startswith(("error: ", "warning: ")) and name in line for line in lines), err
    written = chandra.files() - {"three.pdf"}
    if code in {0, 3}:
        suffixes = {Path(file).suffix for file in written}
        assert suffixes >= {".md", ".html", ".json", ".txt"}
        result = next(chandra.folder.glob("out/*.json"))
        statuses = [page["status"] for page in json.loads(result.read_bytes())["pages"]]
        assert statuses
        assert ("failed" in statuses or "partial" in statuses) == (code == 3)
    else:
        assert lines, "it failed without a word"
        assert {file for file in written if file != "out"} == set()
