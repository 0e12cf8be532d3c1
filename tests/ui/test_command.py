"""``chandra-ui`` as a command: its start, its end, its one line."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.ui.commands import chandra, command, end


def said_by(*options: str) -> tuple[int, str]:
    done = subprocess.run(
        [command("ui"), "--headless", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_code_0_and_a_taken_port_is_one_line(tmp_path: Path, number: int) -> None:
    running = chandra("ui", tmp_path)
    with urllib.request.urlopen(running.url, timeout=30) as answer:
        assert b"<title>Moonpress</title>" in answer.read()
    code, said = said_by("--port", running.url.rpartition(":")[2])
    assert (code, said.count("\n")) == (2, 1)
    assert "cannot be listened on. Choose another --port" in said
    code, said = end(running, number)
    assert code == 0
    assert said == f"Open {running.url} in a browser; Ctrl-C ends it\n"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--engine", "magic"), 2, "no engine is called 'magic'"),
        (("--runs", "/nowhere/at/all"), 4, "there is no such folder"),
        (("--url", "gpu1:8080"), 2, "is no address"),
    ],
)
def test_bad_options_are_one_line(options: tuple[str, ...], code: int, words: str) -> None:
    found, said = said_by(*options)
    assert (found, said.count("\n")) == (code, 1)
    assert words in said


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom moonpress.cli import ui\n"
        "heavy = {'streamlit', 'numpy', 'uvicorn', 'starlette', 'aiohttp'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, check=False)
    assert done.stderr.strip() == b""
