"""A real ``chandra-serve`` in a process of its own, with an engine that follows a script."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import clean_environment, install_scripted_engine

_COMMAND = Path(sys.executable).with_name("chandra-serve")


@dataclass(frozen=True, slots=True)
class Served:
    """A running service."""

    url: str
    process: subprocess.Popen[str]

    def stop(self, number: int = signal.SIGTERM, timeout: float = 30.0) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(timeout)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


Start = Callable[..., Served]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a service with options; all are ended after the module's tests."""
    plugins = tmp_path_factory.mktemp("plugins")
    install_scripted_engine(plugins)
    running: list[Served] = []

    def started(*options: str, **env: str) -> Served:
        port = free_port()
        environment = {**os.environ, **clean_environment(plugins), **env}
        process = subprocess.Popen(
            [_COMMAND, "--engine", "scripted", "--port", str(port), "--quiet", *options],
            env=environment,
            text=True,
            stderr=subprocess.PIPE,
        )
        served = Served(f"http://127.0.0.1:{port}", process)
        running.append(served)
        _wait_until_ready(served)
        return served

    yield started
    for served in running:
        if served.process.poll() is None:
            served.stop(signal.SIGKILL)
        if served.process.stderr is not None:
            served.process.stderr.close()


@pytest.fixture(scope="module")
def service(start: Start) -> Served:
    """One service for tests that do not change it."""
    return start("--workers", "4", "--max-body", "1", "--max-pages", "5")


def _wait_until_ready(served: Served) -> None:
    for _ in range(300):
        if served.process.poll() is not None:
            assert served.process.stderr is not None
            pytest.fail(served.process.stderr.read())
        try:
            with urllib.request.urlopen(f"{served.url}/ready", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    pytest.fail("the service did not become ready")
