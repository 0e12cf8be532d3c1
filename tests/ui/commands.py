"""Running ``chandra-ui`` and ``chandra-serve`` as a user does.

Owns the processes and waiting until they listen. Never looks into them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.ui.batch import scripted_environment

_PATIENCE = 90.0
_READY = {"ui": "/_stcore/health", "serve": "/ready"}


@dataclass(frozen=True, slots=True)
class Running:
    """A command that listens."""

    url: str
    process: subprocess.Popen[str]


def command(name: str) -> Path:
    """Where the installed ``chandra-NAME`` is."""
    return Path(sys.executable).with_name(f"chandra-{name}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def chandra(name: str, folder: Path, *options: str, **script: str) -> Running:
    """Start a command with the engine ``scripted-batch`` at hand, and wait until it listens."""
    port = free_port()
    headless = ["--headless"] if name == "ui" else []
    process = subprocess.Popen(
        [command(name), "--port", str(port), *headless, *options],
        env={**os.environ, **scripted_environment(folder / "plugins"), **script},
        text=True,
        stderr=subprocess.PIPE,
    )
    running = Running(f"http://127.0.0.1:{port}", process)
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with urllib.request.urlopen(running.url + _READY[name], timeout=5):
                return running
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)


def end(running: Running, number: int = signal.SIGTERM) -> tuple[int, str]:
    """Send a signal; the exit code and what was said on standard error."""
    running.process.send_signal(number)
    said = running.process.communicate(timeout=_PATIENCE)[1]
    return running.process.returncode, said
