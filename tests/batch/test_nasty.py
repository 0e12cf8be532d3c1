"""Every hostile file of the shared data in one run: each ends as is expected, and none is lost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.batch.command import Batch

# What the manifest of the data expects, as states of the manifest of a run.
_STATES = {
    "ok": {"ok"},
    "ok-or-clean-error": {"ok", "partial", "failed"},
    "clean-error": {"failed"},
    "needs-password": {"failed"},
}
# No file may hold the others up for longer than a hung page: it takes 20 s where nothing else runs.
_SECONDS = 240.0
_SOME_FAILED = 3


def _expected(shared: Path) -> dict[str, dict[str, Any]]:
    entries = json.loads((shared / "data" / "nasty_manifest.json").read_bytes())
    return {entry["file"]: entry for entry in entries}


@pytest.mark.shared
@pytest.mark.slow
def test_every_hostile_file_ends_as_expected(batch: Batch, shared: Path) -> None:
    expected = _expected(shared)
    # By name: files of unknown suffixes are passed over in folders, and no file may go unread.
    files = [str(shared / "data" / "nasty" / name) for name in sorted(expected)]

    began = time.monotonic()
    result = batch(*files, "-o", "out", "--pages", "1-2", "--workers", "4", timeout=900)
    seconds = time.monotonic() - began

    assert result.code == _SOME_FAILED, result.err
    rows = batch.manifest()
    assert set(rows) == set(expected)
    wrong = {
        name: (row["status"], row["error"])
        for name, row in rows.items()
        if row["status"] not in _STATES[expected[name]["expect"]]
    }
    assert wrong == {}
    _nothing_is_lost(batch, rows)
    for name, row in rows.items():
        if expected[name]["expect"] == "needs-password":
            assert row["error"]["code"] == "password-needed", name
    assert seconds < _SECONDS
    assert batch.strays() == []


def _nothing_is_lost(batch: Batch, rows: dict[str, dict[str, Any]]) -> None:
    documents = batch.report()["documents"]
    assert documents["met"] == documents["done"] + documents["failed"] == len(rows)
    assert documents["not_documents"] == 0
    for name, row in rows.items():
        written = sorted(path.suffix for path in (batch.out / name).glob("*.*"))
        if row["output"] is None:
            assert row["error"], name
            assert written == []
        else:
            assert written == [".html", ".json", ".md", ".txt"], name
            assert len(batch.pages(name)) == row["pages"]


@pytest.mark.shared
@pytest.mark.slow
def test_the_password_of_a_document_opens_it(batch: Batch, shared: Path) -> None:
    lines = [
        {"path": str(shared / "data" / "nasty" / name), "id": name, "password": entry["password"]}
        for name, entry in _expected(shared).items()
        if entry.get("password")
    ]
    manifest = batch.folder / "list.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = batch(manifest, "-o", "out")
    assert result.code == 0, result.err
    assert len(batch.manifest()) == len(lines) > 0
