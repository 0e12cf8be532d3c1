"""The reference pages are what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def generate(checkout: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    script = checkout / "scripts" / "generate_docs.py"
    return subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, timeout=60, check=False
    )


def test_the_committed_pages_are_fresh(checkout: Path) -> None:
    done = generate(checkout, "--check")

    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_is_found_and_mended(checkout: Path, tmp_path: Path) -> None:
    assert generate(checkout, "--folder", tmp_path).returncode == 0
    page = tmp_path / "cli.md"
    page.write_text(page.read_text().replace("--pages", "--leaves"))

    stale = generate(checkout, "--check", "--folder", tmp_path)
    assert stale.returncode == 1
    assert "cli.md" in stale.stderr

    assert generate(checkout, "--folder", tmp_path).returncode == 0
    assert generate(checkout, "--check", "--folder", tmp_path).returncode == 0


@pytest.mark.parametrize("option", ["--output", "--pages", "MOONPRESS_PASSWORD"])
def test_the_command_line_page_names(checkout: Path, option: str) -> None:
    assert option in (checkout / "docs" / "reference" / "cli.md").read_text("utf-8")
