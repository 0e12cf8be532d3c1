"""Tests of `moonpress.serving.replicas.doctor`, of what it asks, and of the command."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from moonpress.errors import EngineUnavailable
from moonpress.serving.replicas.doctor import Finding, Level, Machine, examine
from moonpress.serving.replicas.gpus import look
from moonpress.serving.replicas.hub import Access, Answer, ask_hub
from moonpress.serving.replicas.installed import Installed, ask_installed
from tests.serving.conftest import free_port
from tests.serving.replicas.fake_nvml import GB, Card, FakeNvml, h200s

_GOOD = Installed("/v/bin/vllm", "0.33.0", "2.14.0+cu130", (13, 0), "2.28.9")
_MODEL = "datalab-to/chandra-ocr-2"


def _found(
    cards: list[Card],
    tmp_path: Path,
    *,
    installed: Installed | None = _GOOD,
    hub: Access = Access.OPEN,
    devices: int = 1,
    model: str = _MODEL,
    kernel: str = "Linux version 6.8.0",
    port: int | None = None,
    **env: str,
) -> dict[str, Finding]:
    def ask() -> Installed:
        if installed is None:
            raise EngineUnavailable("the program vllm is not installed here", hint="Install it")
        return installed

    (tmp_path / "version").write_text(kernel)
    machine = Machine(
        environment={"PATH": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), **env},
        box=look(FakeNvml(cards, absent=not cards)),
        installed=ask,
        hub=lambda _model, _environment: Answer(hub, token=False, words="no route"),
        shm=tmp_path,
        kernel=tmp_path / "version",
    )
    there = examine(
        machine, model=model, host="127.0.0.1", port=port or free_port(), devices=devices
    )
    return {finding.about: finding for finding in there}


def _problems(found: dict[str, Finding]) -> set[str]:
    return {name for name, one in found.items() if one.level is Level.PROBLEM}


def _compiler(folder: Path) -> None:
    (folder / "gcc").write_text("#!/bin/sh\n")
    (folder / "gcc").chmod(0o755)


def test_a_good_machine_has_no_problem(tmp_path: Path) -> None:
    _compiler(tmp_path)
    found = _found(h200s(2), tmp_path)
    assert _problems(found) == set()
    assert "150.8 GB; the model takes 13.1 GB" in found["GPU 1"].text
    assert found["CUDA"].text == "the driver runs CUDA up to 13.0"
    assert "OpenRAIL" in found["model"].text


def test_every_problem_has_its_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = _found([], tmp_path, installed=None, hub=Access.AWAY, port=port)
    assert _problems(found) == {"driver", "vLLM", "model", "port"}
    assert all(one.hint for one in found.values() if one.level is not Level.OK)
    assert "compiler" not in found


@pytest.mark.parametrize(
    ("card", "devices", "level", "said"),
    [
        (Card("NVIDIA RTX 3060", 13 * GB), 1, Level.PROBLEM, "13.1 GB"),
        (Card("Tesla T4", 16 * GB, capability=(7, 5)), 1, Level.PROBLEM, "bfloat16"),
        (Card("NVIDIA L4", 24 * GB, used=15 * GB), 1, Level.PROBLEM, "in use"),
        (Card("NVIDIA L4", 24 * GB, used=4 * GB), 1, Level.WARNING, "in use"),
        (Card("NVIDIA GB10", 0), 1, Level.OK, "shares"),
    ],
)
def test_memory_is_held_against_the_model(
    tmp_path: Path, card: Card, devices: int, level: Level, said: str
) -> None:
    finding = _found([card], tmp_path, devices=devices)["GPU 0"]
    assert finding.level is level
    assert said in finding.text


def test_what_is_installed_is_held_against_the_driver(tmp_path: Path) -> None:
    def problems(installed: Installed) -> set[str]:
        return _problems(_found(h200s(1), tmp_path, installed=installed)) - {"compiler"}

    assert problems(_GOOD) == set()
    assert problems(Installed("/v", "0.11.2", "2.9", (12, 8))) == {"vLLM"}
    assert problems(Installed("/v", "0.33.0", "2.14", (14, 0))) == {"torch"}
    assert problems(Installed("/v", "0.33.0", "2.14+cpu")) == {"torch"}
    assert problems(Installed("/v", "0.33.0")) == {"torch"}
    assert problems(Installed("/v")) == {"vLLM"}


def test_links_matter_to_those_who_share_a_model(tmp_path: Path) -> None:
    box = FakeNvml(h200s(2), apart={(0, 1)})
    machine = Machine(
        environment={},
        box=look(box),
        installed=lambda: _GOOD,
        hub=lambda _model, _environment: Answer(Access.OPEN, token=True),
        shm=tmp_path / "nowhere",
        kernel=tmp_path / "nowhere",
    )
    for devices, level in ((1, Level.OK), (2, Level.WARNING)):
        there = examine(machine, model=_MODEL, host="127.0.0.1", port=free_port(), devices=devices)
        found = {finding.about: finding for finding in there}
        assert found["P2P"].level is level
        assert found["shared memory"].level is level


def test_what_cuda_shows_is_looked_at(tmp_path: Path) -> None:
    found = _found(h200s(2), tmp_path, CUDA_VISIBLE_DEVICES="0,7")
    assert "names 7" in found["CUDA_VISIBLE_DEVICES"].text
    found = _found(h200s(2), tmp_path, CUDA_VISIBLE_DEVICES="")
    assert found["GPU"].level is Level.PROBLEM
    assert _found(h200s(1), tmp_path, devices=2)["GPU"].level is Level.PROBLEM


def test_weights_that_are_here_need_no_hub(tmp_path: Path) -> None:
    snapshot = tmp_path / "hf/hub/models--datalab-to--chandra-ocr-2/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(b"x" * 1000)
    found = _found(h200s(1), tmp_path, hub=Access.AWAY)
    assert found["model"].level is Level.OK
    assert "disk" not in found
    found = _found(h200s(1), tmp_path, model=str(tmp_path / "none"))
    assert "no weights" in found["model"].text


@pytest.mark.parametrize(
    ("access", "said"),
    [(Access.GATED, "licence"), (Access.UNKNOWN, "--model"), (Access.AWAY, "online")],
)
def test_weights_that_cannot_be_had(tmp_path: Path, access: Access, said: str) -> None:
    finding = _found(h200s(1), tmp_path, hub=access)["model"]
    assert finding.level is Level.PROBLEM
    assert said in finding.hint


def test_windows_is_told(tmp_path: Path) -> None:
    kernel = "Linux version 5.15.153.1-microsoft-standard-WSL2"
    assert _found(h200s(1), tmp_path, kernel=kernel)["WSL2"].level is Level.WARNING


class _Hub(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        known = "open/model" in self.path
        if "gated" in self.path:
            known = self.headers.get("Authorization") == "Bearer good"
        self.send_response(200 if known else 404 if "missing" in self.path else 401)
        if "hidden" in self.path:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_hub_is_asked_for_headers_only(hub: str, tmp_path: Path) -> None:
    def access(model: str, **env: str) -> Access:
        return ask_hub(model, {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path), **env}).access

    assert access("open/model") is Access.OPEN
    assert access("a/gated") is Access.GATED
    assert access("a/gated", HF_TOKEN="good") is Access.OPEN
    (tmp_path / "token").write_text("good\n")
    assert access("a/gated") is Access.OPEN
    assert access("a/missing") is Access.UNKNOWN
    assert access("a/hidden") is Access.UNKNOWN
    assert access("open/model", HF_HUB_OFFLINE="1") is Access.AWAY
    assert access("open/model", HF_ENDPOINT="file:///etc") is Access.AWAY
    assert access("open/model", HF_ENDPOINT=f"http://127.0.0.1:{free_port()}") is Access.AWAY


def test_an_environment_is_asked_through_its_python(tmp_path: Path) -> None:
    program = tmp_path / "vllm"
    program.write_text(f"#!{sys.executable}\n")
    found = ask_installed((str(program),), {})
    assert found.program == str(program)
    # No vLLM is beside the Python of these tests.
    assert found.vllm is None
    assert ask_installed((str(tmp_path / "nothing"),), {}).vllm is None


def test_the_command_says_one_line_for_each_thing(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("chandra-serve")
    words = [str(command), "doctor", "--port", str(free_port()), "--vllm", str(tmp_path)]
    env = {"PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 5
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "warning", "problem"}
    assert any(line.startswith("problem  vLLM: there is no vllm at") for line in lines)
    words.append("--json")
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=False)
    facts = json.loads(done.stdout)
    assert facts["fit"] is False
    assert len(facts["findings"]) == len(lines)
