"""``chandra-serve`` with fake vLLM servers: what clients, operators and signals meet."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.serving.conftest import free_port
from tests.serving.replicas.fleet import FAKE, PATIENCE, alive

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are those of POSIX")

_COMMAND = Path(sys.executable).with_name("chandra-serve")


def _inked() -> str:
    """A page that is not blank, which no server would be asked about."""
    file = io.BytesIO()
    page = Image.new("RGB", (480, 640), "white")
    page.paste((0, 0, 0), (60, 100, 400, 140))
    page.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


_PICTURE = _inked()


@dataclass(slots=True)
class Command:
    """A ``chandra-serve`` whose servers follow a script."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None

    @property
    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60, trust_env=False)

    def tell(self, **said: Any) -> None:
        new = self.folder / "script.new"
        new.write_text(json.dumps({"*": said}))
        new.replace(self.folder / "script.json")

    def starts(self) -> list[dict[str, Any]]:
        path = self.folder / "script.notes"
        lines = path.read_text().splitlines() if path.exists() else []
        return [note for note in map(json.loads, lines) if note["kind"] == "start"]

    def write_program(self) -> None:
        vllm = self.folder / "vllm"
        vllm.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
        vllm.chmod(0o755)
        (self.folder / "model").mkdir(exist_ok=True)

    def line(self, *options: str) -> list[str]:
        places = ["--model", str(self.folder / "model"), "--vllm", str(self.folder / "vllm")]
        return [str(_COMMAND), *places, "--port", str(self.port), *options]

    def start(self, *options: str) -> None:
        self.write_program()
        self.process = subprocess.Popen(
            self.line(*options),
            env={**os.environ, "FAKE_VLLM_SCRIPT": str(self.folder / "script.json")},
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, fact: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for a fact about its health."""
        give_up = time.monotonic() + PATIENCE
        health: dict[str, Any] = {}
        with self.client as client:
            while time.monotonic() < give_up:
                try:
                    health = client.get("/health").json()
                except httpx.TransportError:
                    health = {}
                if health and fact(health):
                    return
                time.sleep(0.05)
        pytest.fail(f"not in time: {health}")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it said."""
        assert self.process is not None
        if number:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path)
    command.tell()
    yield command
    if command.process is not None and command.process.poll() is None:
        command.process.kill()
        command.process.communicate()


def well(health: dict[str, Any]) -> bool:
    return bool(health["status"] == "ok")


def test_health_metrics_and_page_show_every_replica(command: Command) -> None:
    command.start("--replicas", "2")
    command.until(well)
    with command.client as client:
        assert client.get("/ready").status_code == 200
        names = {one["name"]: one["state"] for one in client.get("/health").json()["replicas"]}
        assert names == {"cpu0": "ready", "cpu1": "ready"}
        text = client.get("/metrics").text
        assert 'moonpress_replica_state{replica="cpu0",state="ready"} 1.0' in text
        assert 'moonpress_replica_state{replica="cpu0",state="failed"} 0.0' in text
        assert 'moonpress_replica_in_flight{replica="cpu1"} 0.0' in text
        assert "Replica cpu1" in client.get("/").text
        command.tell(never_ready=True)
        os.kill(command.starts()[0]["pid"], signal.SIGKILL)
        command.until(lambda health: not well(health))
        # One is left: the service is degraded and does all that it is asked for.
        assert client.get("/ready").status_code == 200
        answer = client.post("/v1/ocr", json={"file": _PICTURE})
        assert answer.status_code == 200
        command.until(lambda health: any(one["restarts"] == 1 for one in health["replicas"]))
        assert "moonpress_replica_restarts_total" in client.get("/metrics").text
        os.kill(command.starts()[1]["pid"], signal.SIGKILL)
        command.until(lambda _: client.get("/ready").status_code == 503)
        assert client.get("/health").status_code == 200
    code, said = command.end()
    assert code == 0, said
    assert "cpu0: it ended with code 137. It is restarted" in said or "cpu1" in said


def test_sighup_restarts_all_one_by_one(command: Command) -> None:
    command.start("--replicas", "2", "--quiet")
    command.until(well)
    assert command.process is not None
    command.process.send_signal(signal.SIGHUP)
    command.until(lambda health: all(one["restarts"] == 1 for one in health["replicas"]))
    command.until(well)
    assert len(command.starts()) == 4
    assert command.end()[0] == 0


def test_a_terminal_that_is_closed_ends_the_service(command: Command) -> None:
    command.tell()
    command.write_program()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["FAKE_VLLM_SCRIPT"] = str(command.folder / "script.json")
        os.execv(_COMMAND, command.line("--replicas", "1", "--quiet"))
    try:
        command.until(well)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert len(command.starts()) == 1
        assert not alive(command.starts()[0]["pid"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_sigterm_finishes_what_is_under_way(command: Command) -> None:
    command.tell(page_seconds=2.0)
    command.start("--replicas", "1", "--quiet")
    command.until(well)
    statuses: list[int] = []

    def ask() -> None:
        with command.client as client:
            statuses.append(client.post("/v1/ocr", json={"file": _PICTURE}).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    command.until(lambda health: bool(health["replicas"][0]["in_flight"]))
    assert command.end()[0] == 0
    asking.join()
    assert statuses == [200]


def test_a_page_waits_for_the_only_replica_to_come_back(command: Command) -> None:
    command.tell(page_seconds=1.0)
    command.start("--replicas", "1", "--quiet")
    command.until(well)
    statuses: list[int] = []

    def ask() -> None:
        with command.client as client:
            statuses.append(client.post("/v1/ocr", json={"file": _PICTURE}).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    command.until(lambda health: bool(health["replicas"][0]["in_flight"]))
    os.kill(command.starts()[0]["pid"], signal.SIGKILL)
    asking.join()
    assert statuses == [200]
    assert len(command.starts()) == 2
    assert command.end()[0] == 0


def test_the_service_ends_when_no_replica_can_run(command: Command) -> None:
    command.tell(say=["RuntimeError: No CUDA GPUs are available"], exit=1)
    command.start("--replicas", "2")
    code, said = command.end(0)
    assert code == 5
    lines = said.splitlines()
    assert lines[0].startswith("Listening on http://127.0.0.1:")
    assert lines[-1].startswith("error: chandra-serve: no replica can run: cpu0, cpu1: ")
    assert lines[-1].endswith("[engine-unavailable]")


def test_sigterm_during_the_start_ends_at_once(command: Command) -> None:
    command.tell(never_ready=True, ignore_term=True)
    command.start("--replicas", "2", "--quiet")
    command.until(lambda health: all(one["state"] == "starting" for one in health["replicas"]))
    began = time.monotonic()
    code, said = command.end()
    assert (code, said) == (0, "")
    # Not after a time of grace for each.
    assert time.monotonic() - began < 8


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much processes hold")
def test_the_memory_limit_reaches_the_replicas(command: Command) -> None:
    command.start("--replicas", "2", "--quiet", "--replica-memory-limit", "0.2")
    command.until(well)
    command.tell(hold=300 << 20)
    with command.client as client:
        assert client.post("/v1/ocr", json={"file": _PICTURE}).status_code == 200
        command.tell()
        command.until(lambda health: any(one["restarts"] == 1 for one in health["replicas"]))
        assert client.post("/v1/ocr", json={"file": _PICTURE}).status_code == 200
    assert command.end()[0] == 0
