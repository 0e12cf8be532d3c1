"""Rules that hold for the repository as a whole.

The direction of imports is checked by import-linter in ``make check``; here is what it cannot see.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FORBIDDEN = (b"/work/", b"/.library", b"<<<<<<< ")
# It has to name what it looks for.
THIS_FILE = "tests/test_architecture.py"


def _tracked_files(checkout: Path) -> list[str]:
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        pytest.skip("needs git and a git checkout")
    listing = subprocess.run(
        [git, "ls-files", "-z"], cwd=checkout, capture_output=True, text=True, check=True
    )
    return [name for name in listing.stdout.split("\0") if (checkout / name).is_file()]


def test_nothing_names_the_machine_it_was_written_on(checkout: Path) -> None:
    names = _tracked_files(checkout)
    assert len(names) > 20
    contents = [(name, (checkout / name).read_bytes()) for name in names if name != THIS_FILE]
    found = [(name, mark) for name, content in contents for mark in FORBIDDEN if mark in content]
    assert found == []


def test_constraints_are_plain_pins(checkout: Path) -> None:
    lines = (checkout / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not _is_plain_pin(line)] == []


def _is_plain_pin(line: str) -> bool:
    name, separator, version = line.partition("==")
    return bool(name and separator and version) and not set(line) & set("/:@;# ")
