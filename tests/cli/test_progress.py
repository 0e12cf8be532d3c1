"""The progress bar, on a real terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Sequence

import pytest

from tests.cli.command import COMMAND, Chandra


def on_a_terminal(chandra: Chandra, arguments: Sequence[str], **env: str) -> tuple[int, str]:
    """Run with standard error on a terminal; returns the exit code and what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments, "--engine", "scripted"],
        cwd=chandra.folder,
        env={**chandra.env, "TERM": "xterm-256color", "COLUMNS": "100", **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    # Linux ends a terminal whose other side is closed with an error instead of an end of file.
    with os.fdopen(ours, "rb", buffering=0) as stream:
        while True:
            try:
                chunk = stream.read(4096)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
    return process.wait(timeout=10), shown.decode(errors="replace")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.mark.slow
def test_a_bar_with_pages_failures_speed_and_time_left(chandra: Chandra) -> None:
    code, shown = on_a_terminal(
        chandra, ["three.pdf", "-o", "r.md"], SCRIPTED_DELAY="0.5", SCRIPTED_BAD="1"
    )
    text = plain(shown)

    assert code == 3
    assert re.search(r"three\.pdf .*2/3 pages 1 failed .*\d\.\d pages/s ETA 0", text)
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    last = [line.strip() for line in text.splitlines() if line.strip()]
    assert last[-2] == "error: three.pdf, page 1: as the script says [engine-failed]"
    assert re.fullmatch(r"Wrote r\.md \(3 pages, 1 failed\) in \d\.\d s", last[-1])


def test_a_hostile_name_cannot_write_on_the_terminal(chandra: Chandra) -> None:
    name = "[red]a\x1b]0;owned\x07\n.pdf"
    (chandra.folder / "three.pdf").rename(chandra.folder / name)

    code, shown = on_a_terminal(chandra, [name, "-o", "r.md"], SCRIPTED_DELAY="0.2")

    assert code == 0
    assert "owned\x07" not in shown
    assert "[red]a\\x1b]0;owned\\x07\\n.pdf" in plain(shown)


@pytest.mark.parametrize("flag", ["--quiet", "--json-logs", "--verbose"])
def test_no_bar_when_it_is_not_wanted(chandra: Chandra, flag: str) -> None:
    code, shown = on_a_terminal(chandra, ["three.pdf", "-o", "r.md", flag])

    assert code == 0
    assert "\x1b" not in shown
    assert "Wrote" not in shown
