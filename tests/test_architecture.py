"""Rules that hold for the repository as a whole.

The direction of imports is checked by import-linter in ``make check``; here is what it cannot see.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

FORBIDDEN = ("/work/", ".library", "<<<<<<< ")
# It has to name what it looks for.
THIS_FILE = "tests/test_architecture.py"


def _tracked_texts(checkout: Path) -> list[tuple[str, str]]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=checkout, capture_output=True, text=True, check=False
    )
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    texts: list[tuple[str, str]] = []
    for name in filter(None, listing.stdout.split("\0")):
        if name == THIS_FILE:
            continue
        path = checkout / name
        content = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in content:
            texts.append((name, content.decode("utf-8")))
    return texts


def test_nothing_names_the_machine_it_was_written_on(checkout: Path) -> None:
    texts = _tracked_texts(checkout)
    assert len(texts) > 20
    found = [f"{name}: {mark}" for name, text in texts for mark in FORBIDDEN if mark in text]
    assert found == []


def test_constraints_are_plain_pins(checkout: Path) -> None:
    lines = (checkout / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not _is_plain_pin(line)] == []


def _is_plain_pin(line: str) -> bool:
    name, separator, version = line.partition("==")
    return bool(name and separator and version) and not set(line) & set("/:@;# ")
