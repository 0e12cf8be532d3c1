"""``chandra-batch --ray`` on a real cluster: three nodes on this machine, of which some are killed.

The engine's log and delay are those of the cluster, so each test names its documents by itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
import zstandard

from tests.batch.command import Batch, batch_in, make_inputs, wait_for
from tests.conftest import CHECKOUT

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]
_PAGES = 3


@dataclass(slots=True)
class Nodes:
    """A running cluster."""

    process: subprocess.Popen[str]
    address: str
    log: Path

    def tell(self, command: str) -> None:
        """Kill or add a node."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def workers(self) -> list[psutil.Process]:
        """Our processes on all nodes."""
        found = []
        for one in psutil.Process(self.process.pid).children(recursive=True):
            try:
                title = " ".join(one.cmdline())
            except psutil.Error:
                continue
            if title.startswith("ray::MoonpressWorker"):
                found.append(one)
        return found

    def took(self, label: str) -> Counter[str]:
        """Pages of documents whose names begin so that the engines were asked for."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        parts = [line.split(" ", 2) for line in lines]
        return Counter(p[2] for p in parts if p[0] == "took" and p[2].startswith(label))

    @contextmanager
    def holding(self, words: str) -> Iterator[None]:
        """Inside, pages with these words are begun and not ended."""
        hold = self.log.with_name("hold")
        hold.with_suffix(".new").write_text(words)
        hold.with_suffix(".new").rename(hold)
        try:
            yield
        finally:
            hold.unlink()


@contextmanager
def _cluster(plugins: Path, delay: float) -> Iterator[Nodes]:
    # Not a folder of pytest's: addresses of sockets in it may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir="/tmp"))
    env = batch_in(folder / "c", plugins).env
    env |= {"SCRIPT_DELAY": str(delay), "SCRIPT_LOG": str(folder / "log")}
    env |= {"SCRIPT_HOLD": str(folder / "hold")}
    env |= {"TMPDIR": str(folder), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-m", "tests.batch.ray_nodes", "3"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
        cwd=CHECKOUT,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "no cluster could be started"
        yield Nodes(process, address, folder / "log")
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        process.communicate(timeout=60)
        for one in family:
            if one.is_running():
                one.kill()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def nodes(plugins: Path) -> Iterator[Nodes]:
    """Three nodes whose engines take a twentieth of a second a page."""
    with _cluster(plugins, 0.05) as made:
        yield made


def _documents(batch: Batch, label: str, count: int) -> Counter[str]:
    return make_inputs(batch.inputs, {f"{label}{i:02}.pdf": _PAGES for i in range(count)})


def _rows(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in sorted(out.glob("part-*.jsonl.zst")):
        with path.open("rb") as file:
            text = zstandard.ZstdDecompressor().stream_reader(file).read()
        rows += map(json.loads, text.splitlines())
    return rows


def _once(out: Path, texts: Counter[str]) -> None:
    """Every document is one row, and every page in it."""
    pages = [page for row in _rows(out) for page in row["json"]["pages"]]
    found = Counter(
        block["html"].removeprefix("<p>").removesuffix("</p>")
        for page in pages
        for block in page["blocks"]
    )
    assert found == texts
    hidden = [path.name for path in (out / ".moonpress" / "waiting").iterdir()]
    assert hidden == []


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in {"seconds"}}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


def _contents(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(out.glob("*.pdf/**/*")):
        if path.is_file():
            data = path.read_bytes()
            name = str(path.relative_to(out))
            found[name] = _without_times(json.loads(data)) if path.suffix == ".json" else data
    return found


def test_three_nodes_read_each_document_once_and_as_one_machine_does(
    batch: Batch, nodes: Nodes
) -> None:
    texts = _documents(batch, "all", 24)
    (batch.inputs / "bad.pdf").write_bytes(b"%PDF-1.7 and no more")

    result = batch.read("--ray", nodes.address, "--sink", "folder")

    assert result.code == 3, result.err
    assert batch.texts() == texts == nodes.took("all")
    assert {row["status"] for row in batch.manifest().values()} == {"ok", "failed"}
    report = batch.report()
    assert report["documents"]["done_now"] == 24
    assert report["documents"]["failed"] == 1
    assert report["pages"]["read_now"] == report["pages"]["selected"] == 24 * _PAGES
    assert report["engine"] == "scripted-batch"
    assert batch.status()["documents"]["done"] == 24
    assert batch("in", "-o", "alone").code == 3
    assert _contents(batch.out) == _contents(batch.folder / "alone")

    again = batch.read("--ray", nodes.address)
    assert again.code == 3, again.err
    documents = batch.report()["documents"]
    assert (documents["done_before"], documents["failed_before"]) == (24, 1)
    assert nodes.took("all") == texts


def test_a_worker_that_is_killed_costs_a_retry(batch: Batch, nodes: Nodes) -> None:
    texts = _documents(batch, "killed", 24)
    process = batch.start("--ray", nodes.address, "--sink", "jsonl")
    wait_for(lambda: nodes.took("killed").total() > 10)
    nodes.workers()[0].kill()

    result = batch.finish(process)

    assert result.code == 0, result.err
    assert "a worker is gone" in result.err
    _once(batch.out, texts)
    assert {row["status"] for row in batch.manifest().values()} == {"ok"}
    # Not more than what was in flight on one node.
    assert nodes.took("killed").total() - texts.total() <= 8


def test_a_driver_that_is_killed_goes_on(batch: Batch, nodes: Nodes) -> None:
    texts = _documents(batch, "driver", 24)
    process = batch.start("--ray", nodes.address, "--sink", "jsonl")
    wait_for(lambda: nodes.took("driver").total() > 30)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()

    result = batch.read("--ray", nodes.address, "--sink", "jsonl")

    assert result.code == 0, result.err
    _once(batch.out, texts)
    assert nodes.took("driver").total() - texts.total() <= 30


def test_ctrl_c_finishes_what_is_in_flight_and_the_rest_comes_later(
    batch: Batch, nodes: Nodes
) -> None:
    texts = _documents(batch, "stopped", 24)
    process = batch.start("--ray", nodes.address)
    wait_for(lambda: nodes.took("stopped").total() > 5)
    process.send_signal(signal.SIGINT)

    result = batch.finish(process)

    assert result.code == 128 + signal.SIGINT, result.err
    assert batch.report()["ended"] == "stopped"
    assert nodes.took("stopped").total() < texts.total()
    assert batch.read("--ray", nodes.address).code == 0
    assert batch.texts() == texts == nodes.took("stopped")


def test_ctrl_c_twice_stops_at_once(batch: Batch, nodes: Nodes) -> None:
    _documents(batch, "twice", 24)
    process = batch.start("--ray", nodes.address)
    wait_for(lambda: nodes.took("twice").total() > 5)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "once more stops at once" in batch.err.read_text())
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert batch.finish(process).code == 128 + signal.SIGINT
    assert time.monotonic() - began < 15
    wait_for(lambda: not nodes.workers())


def test_two_drivers_at_once_share_the_work(batch: Batch, nodes: Nodes) -> None:
    # More than one driver takes at once: two shards a worker, of 16 documents at most.
    texts = _documents(batch, "two", 120)
    options = ("--ray", nodes.address, "--sink", "jsonl")

    def holders() -> set[str]:
        found = set()
        for path in (batch.out / ".moonpress" / "leases").glob("*-1.*"):
            with suppress(FileNotFoundError):
                found.add(json.loads(path.read_bytes())["name"])
        return found

    with nodes.holding("two"):
        # Ledgers of their own, as on two machines.
        first = batch.start(*options, "--ledger", "a/ledger.sqlite")
        second = batch.start(*options, "--ledger", "b/ledger.sqlite")
        wait_for(lambda: len(holders()) == 2, seconds=120)
    codes = [batch.finish(process).code for process in (first, second)]

    assert codes == [0, 0]
    _once(batch.out, texts)
    assert nodes.took("two") == texts


def test_a_node_that_is_killed_costs_a_retry(batch: Batch, nodes: Nodes) -> None:
    texts = _documents(batch, "node", 24)
    process = batch.start("--ray", nodes.address)
    wait_for(lambda: nodes.took("node").total() > 10)
    nodes.tell("kill 2")

    result = batch.finish(process)

    assert result.code == 0, result.err
    assert batch.texts() == texts
    assert {row["status"] for row in batch.manifest().values()} == {"ok"}


def test_what_makes_no_sense_is_one_line(batch: Batch, tmp_path: Path) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    absent = tmp_path / "absent" / "ray"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ModuleNotFoundError(name='ray')\n")
    path = os.pathsep.join((str(absent.parent), batch.env["PYTHONPATH"]))
    cases = [
        (("--ray", "127.0.0.1:1"), {}, 5, "no Ray cluster answers at 127.0.0.1:1"),
        (("--ray", "somewhere"), {}, 2, "is no address of a cluster"),
        (("--ray", "auto", "--shard", "1/2"), {}, 2, "exclude each other"),
        (("--ray", "auto"), {"PYTHONPATH": path}, 2, "--ray needs Ray. Run pip install"),
    ]
    for arguments, env, code, said in cases:
        result = batch.read(*arguments, **env)
        assert result.code == code, result.err
        assert said in result.line
