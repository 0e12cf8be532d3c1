"""Real vLLM servers that ``chandra-serve`` starts: one is killed, one hangs, one has no disk."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import numpy as np
import orjson
import psutil
import pytest

from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.engines.chandra.picture import ImageFormat, encode
from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.serving.replicas.complaints import known_failure
from moonpress.serving.replicas.replica import until
from moonpress.serving.replicas.report import ReplicaReport, State
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from moonpress.serving.replicas.supervisor import Advice, Supervisor
from tests.serving.conftest import free_port
from tests.vllm.server import START_SECONDS, environment_folder, program

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

_FLAGS = (
    "--dtype", "bfloat16", "--enforce-eager", "--max-num-seqs", "16", "--max-model-len", "6144",
    "--kv-cache-memory-bytes", "256M",
)  # fmt: skip


def body_of(number: int, model: str) -> bytes:
    """A chat request with a page of its own, which is answered in a second."""
    draw = np.random.default_rng(number)
    pixels = np.full((320, 256, 3), 255, dtype=np.uint8)
    pixels[40:280, 40:200] = draw.integers(0, 255, (240, 160, 3))
    picture = encode(pixels, ImageFormat.PNG, 1.0)
    url = f"data:image/png;base64,{base64.b64encode(picture.data).decode()}"
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "Read this"},
    ]
    messages = [{"role": "user", "content": content}]
    return orjson.dumps({"model": model, "messages": messages, "max_tokens": 64, "stream": False})


@dataclass(frozen=True, slots=True)
class Serving:
    """A ``chandra-serve`` with two replicas."""

    client: httpx.Client
    process: subprocess.Popen[bytes]
    model: str

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/health").json()
        return found

    def restarts(self) -> int:
        return sum(one["restarts"] for one in self.health()["replicas"])

    def until(self, fact: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for a fact about its health."""
        give_up = time.monotonic() + START_SECONDS
        while not fact(health := self.health()):
            assert self.process.poll() is None
            assert time.monotonic() < give_up, health
            time.sleep(0.1)

    def until_well(self) -> None:
        self.until(lambda health: health["status"] == "ok")

    def servers(self) -> list[psutil.Process]:
        """The main processes of the replicas; each leads a group."""
        guardians = psutil.Process(self.process.pid).children()
        mains = [child for one in guardians for child in one.children()]
        return [one for one in mains if any("vllm" in word for word in one.cmdline())]

    @contextmanager
    def load(self, count: int) -> Iterator[None]:
        """So many requests at once, while the body runs and until all are answered with 200."""
        with ThreadPoolExecutor(count) as threads:
            answers = [threads.submit(self._ask, number) for number in range(count)]
            yield
            statuses = [answer.result() for answer in answers]
        assert statuses == [200] * count

    def _ask(self, number: int) -> int:
        headers = {"X-Moonpress-Output": "raw", "Content-Type": "application/json"}
        content = body_of(number, self.model)
        answer = self.client.post("/v1/chat/completions", content=content, headers=headers)
        if answer.status_code == 200:
            assert answer.json()["usage"]["completion_tokens"] > 0
        return answer.status_code


def busy(health: dict[str, Any]) -> bool:
    return all(one["in_flight"] >= 5 for one in health["replicas"])


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("fleet")
    vllm, log = program(folder)
    port = free_port()
    model = str(environment_folder() / "tiny-model")
    command = [str(Path(sys.executable).with_name("chandra-serve")), "--model", model]
    options = ["--replicas", "2", "--vllm", str(vllm), "--port", str(port), *_FLAGS]
    with (folder / "service.log").open("wb") as said:
        process = subprocess.Popen([*command, *options], stderr=said, stdin=subprocess.DEVNULL)
    limits = httpx.Limits(max_connections=None)
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, timeout=300, limits=limits, trust_env=False) as client:
        try:
            _listening(client, process)
            serving = Serving(client, process, model)
            serving.until_well()
            yield serving
        except BaseException:
            sys.stderr.write((folder / "service.log").read_text() + log.read_text()[-3000:])
            raise
        finally:
            process.kill()
            process.wait()


def _listening(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + 60
    while True:
        assert process.poll() is None
        try:
            client.get("/health")
        except httpx.TransportError:
            assert time.monotonic() < give_up
            time.sleep(0.1)
        else:
            return


def test_one_is_killed_with_a_hundred_requests_in_flight(serving: Serving) -> None:
    with serving.load(100):
        serving.until(busy)
        os.killpg(serving.servers()[0].pid, signal.SIGKILL)
    assert serving.client.get("/ready").status_code == 200
    serving.until_well()
    assert serving.restarts() == 1
    with serving.load(40):
        serving.until(busy)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other processes are Linux's")
def test_one_whose_disk_is_full_goes_on(serving: Serving) -> None:
    """No file can grow any more: a server that runs writes none."""
    last = serving.servers()[-1]
    for process in (last, *last.children(recursive=True)):
        process.rlimit(psutil.RLIMIT_FSIZE, (0, 0))
    before = serving.restarts()
    with serving.load(40):
        serving.until(busy)
    assert serving.restarts() == before


def test_one_hangs_and_its_requests_are_answered_by_the_other(serving: Serving) -> None:
    before = serving.restarts()
    with serving.load(100):
        serving.until(busy)
        os.killpg(serving.servers()[-1].pid, signal.SIGSTOP)
    serving.until(lambda health: any(one["restarts"] for one in health["replicas"]))
    serving.until(lambda _: serving.restarts() == before + 1)


def test_the_end_is_code_0_and_leaves_nothing(serving: Serving) -> None:
    """One replica serves, the other starts: it would not listen to SIGTERM now."""
    tree = psutil.Process(serving.process.pid).children(recursive=True)
    assert len(tree) > 4
    serving.process.terminate()
    assert serving.process.wait(60) == 0
    _, alive = psutil.wait_procs(tree, timeout=10)
    assert alive == []


class Pair:
    """An encoder and a decoder; without ``chandra-serve``, whose plan wants GPUs for encoders."""

    def __init__(self, place: Path) -> None:
        vllm, self._log = program(place)
        self.folder = place / "shared"
        self.folder.mkdir()
        self._model = str(environment_folder() / "tiny-model")
        encoder = ("--no-enable-prefix-caching", "--mm-encoder-only")
        specs = (
            self._spec(Role.ENCODER, "ec_producer", *encoder),
            self._spec(Role.DECODER, "ec_consumer"),
        )
        self.engine = ChandraVLLMEngine((), confidence=False, more_come=True)
        advice = Advice(known_failure, lambda spec: spec, lambda _: None)
        fleet = Fleet((str(vllm),), self._model, specs, "a pair")
        self.supervisor = Supervisor(fleet, self.engine, SupervisorSettings(), advice)

    def _spec(self, role: Role, part: str, *flags: str) -> ReplicaSpec:
        config = {
            "ec_connector": "ECExampleConnector",
            "ec_role": part,
            "engine_id": role.value,
            "ec_connector_extra_config": {"shared_storage_path": str(self.folder)},
        }
        arguments = (*_FLAGS, *flags, "--ec-transfer-config", orjson.dumps(config).decode())
        return ReplicaSpec(role.value, (), arguments, {"VLLM_LOGGING_LEVEL": "DEBUG"}, role)

    async def ask(self, number: int) -> None:
        """Have the decoder read a page."""
        async with self.engine.pool.lend(1) as replica:
            assert isinstance(replica, ChandraReplica)
            request = orjson.loads(body_of(number, self._model)) | {"stream": True}
            pieces = [event async for event in replica.client.chat(orjson.dumps(request))]
            assert any(piece.finish_reason for piece in pieces)

    def loaded(self) -> int:
        """How many pictures the decoder took over."""
        return self._log.read_text(errors="replace").count("Success load encoder cache")

    def report(self, role: Role) -> ReplicaReport | None:
        return next((one for one in self.supervisor.reports() if one.role is role), None)

    def ready(self, role: Role) -> bool:
        report = self.report(role)
        return report is not None and report.state is State.READY


def test_an_encoder_apart_from_its_decoder(tmp_path: Path) -> None:
    pair = Pair(tmp_path)

    async def work() -> None:
        await until(lambda: pair.ready(Role.ENCODER) and pair.ready(Role.DECODER), 0.1)
        for number in (1, 2):
            await pair.ask(number)
        await until(lambda: pair.loaded() == 2, 0.1)
        assert len(list(pair.folder.rglob("*.safetensors"))) == 2
        encoder = pair.report(Role.ENCODER)
        assert encoder is not None
        os.killpg(psutil.Process(encoder.pid).children()[0].pid, signal.SIGKILL)
        await until(lambda: not pair.ready(Role.ENCODER), 0.1)
        await pair.ask(3)
        assert pair.loaded() == 2

    async def go() -> None:
        with anyio.fail_after(START_SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pair.supervisor.run)
                await work()
                tasks.cancel_scope.cancel()
        await pair.engine.aclose()

    anyio.run(go)
    assert list(pair.folder.iterdir()) == []
