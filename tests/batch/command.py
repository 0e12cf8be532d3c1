"""Running the installed ``chandra-batch`` as a user does, over documents that say who they are.

Owns the subprocess, its environment, and what can be seen of a run from outside: its files, the
ledger, the pages that the scripted engine took. Never imports what it runs.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from zstandard import ZstdDecompressor

from tests.cli.command import Result, clean_environment
from tests.conftest import CHECKOUT
from tests.sources.raw_pdf import RawPage, raw_pdf, text

COMMAND = Path(sys.executable).parent / "chandra-batch"
# Seconds; a run takes two or three where nothing else runs.
PATIENCE = 90.0


def labelled_pdf(label: str, pages: int) -> bytes:
    """A PDF whose page N says ``<label> page N`` and nothing else."""
    return raw_pdf(
        *(RawPage(text((72, 700), f"{label} page {number}")) for number in range(1, pages + 1))
    )


def make_inputs(folder: Path, pages: Mapping[str, int]) -> Counter[str]:
    """Write a labelled PDF for each name; all texts that the engine should get, once each."""
    texts: Counter[str] = Counter()
    for name, count in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(labelled_pdf(name, count))
        texts.update(f"{name} page {number}" for number in range(1, count + 1))
    return texts


@dataclass(frozen=True, slots=True)
class Reads:
    """What the log of the scripted engine says."""

    took: Counter[str]
    gave: dict[str, list[float]]


@dataclass(slots=True)
class Batch:
    """The command in a folder of its own, with ``in/`` for documents and ``out/`` for results."""

    folder: Path
    env: dict[str, str]
    out: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def inputs(self) -> Path:
        return self.folder / "in"

    @property
    def err(self) -> Path:
        """Where the last command started with `start` writes what it says."""
        return self.folder / "stderr"

    def __call__(self, *arguments: str | Path, timeout: float = PATIENCE, **env: str) -> Result:
        """Run to the end; what takes longer than ``timeout`` seconds fails the test."""
        done = subprocess.run(
            [COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            env={**self.env, **env},
            timeout=timeout,
            check=False,
        )
        err = done.stderr.decode(errors="replace")
        assert not re.search(r"^Traceback|a bug in Moonpress", err, re.MULTILINE), err
        return Result(done.returncode, done.stdout, err)

    def read(self, *arguments: str | Path, **env: str) -> Result:
        """Read ``in`` into ``out``."""
        return self("in", "-o", "out", *arguments, timeout=PATIENCE, **env)

    def start(self, *arguments: str | Path, **env: str) -> subprocess.Popen[bytes]:
        """Start to read ``in`` into ``out`` in a session of its own, as a terminal would."""
        with self.err.open("wb") as err:
            process = subprocess.Popen(
                [COMMAND, "in", "-o", "out", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=err,
                cwd=self.folder,
                env={**self.env, **env},
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def finish(self, process: subprocess.Popen[bytes]) -> Result:
        """Wait until a started command ends."""
        code = process.wait(PATIENCE)
        err = self.err.read_text(errors="replace")
        assert not re.search(r"^Traceback|a bug in Moonpress", err, re.MULTILINE), err
        return Result(code, b"", err)

    def close(self) -> None:
        """End what a failed test left running."""
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "report.json").read_bytes())
        return found

    def manifest(self) -> dict[str, dict[str, Any]]:
        rows = map(json.loads, (self.out / "manifest.jsonl").read_bytes().splitlines())
        return {row["id"]: row for row in rows}

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("status", "out", "--json").out)
        return found

    def pages(self, item_id: str) -> list[dict[str, Any]]:
        """The pages of a document as its JSON output has them."""
        path = self.out / item_id / f"{Path(item_id).stem}.json"
        found: list[dict[str, Any]] = json.loads(path.read_bytes())["pages"]
        return found

    def rows(self) -> list[dict[str, Any]]:
        """The rows of a dataset of JSON lines."""
        found: list[dict[str, Any]] = []
        for path in sorted(self.out.glob("*.jsonl.zst")):
            data = ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read()
            found += map(json.loads, data.splitlines())
        return found

    def texts(self) -> Counter[str]:
        """What all pages of all documents among the results say."""
        found: Counter[str] = Counter()
        for path in self.out.rglob("*.json"):
            if path.name != "report.json":
                for page in json.loads(path.read_bytes())["pages"]:
                    found.update(
                        block["html"].removeprefix("<p>").removesuffix("</p>")
                        for block in page["blocks"]
                        if block["kind"] == "text"
                    )
        return found

    def reads(self) -> Reads:
        """What the scripted engine was asked for so far."""
        took: Counter[str] = Counter()
        gave: dict[str, list[float]] = {}
        log = Path(self.env["SCRIPT_LOG"])
        for line in log.read_text().splitlines() if log.exists() else ():
            what, at, words = line.split(" ", 2)
            if what == "took":
                took[words] += 1
            else:
                gave.setdefault(words, []).append(float(at))
        return Reads(took, gave)

    def strays(self) -> list[str]:
        """Temporary files that a finished run must not leave."""
        places = (self.out, Path(self.env["TMPDIR"]))
        return sorted(
            str(path.relative_to(self.folder))
            for place in places
            for path in place.rglob("*")
            if path.name.startswith(".moonpress-") or "tmp" in path.suffix or place != self.out
        )


def batch_in(folder: Path, plugins: Path) -> Batch:
    """The command with the scripted engine, in an empty folder with another for temporary files."""
    for name in ("in", "tmp"):
        (folder / name).mkdir(parents=True)
    env = clean_environment(plugins)
    env |= {
        # The engine is a module of the tests.
        "PYTHONPATH": os.pathsep.join((env["PYTHONPATH"], str(CHECKOUT))),
        "MOONPRESS_ENGINE": "scripted-batch",
        "SCRIPT_LOG": str(folder / "log"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return Batch(folder, env, folder / "out")


def wait_for(what: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Return as soon as something has happened; fails after a while."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The command and all processes that it has started."""
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def alive_after(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Which of these are there still, so many seconds later."""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]
