"""The parent's side of an engine under measurement, and the readings kept from earlier runs.

Owns starting the child, one request at a time, killing it at the time limit, and the cache: a
reading is made again only when the engine, its runner or the file has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.accuracy.cases import Reading
from benchmarks.accuracy.runners import Runner

_ROOT = Path(__file__).resolve().parents[2]
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_THREAD_LIMIT")


class EngineProcess:
    """One engine, started when the first page has to be read.

    Args:
        runner: Which.
        cache: Folder of readings.
        time_limit: Seconds that one page may take.
        warm_up: Files read and forgotten first, so that loading models is nobody's page time.
    """

    def __init__(
        self, runner: Runner, cache: Path, time_limit: float, warm_up: Sequence[Path] = ()
    ) -> None:
        self.runner = runner
        self.version = runner.version()
        self._cache = cache / runner.name
        self._cache.mkdir(parents=True, exist_ok=True)
        self._limit = time_limit
        self._warm_up = tuple(warm_up)
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Nothing starts yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the child."""
        self._end()

    def read(self, path: Path, page: int) -> Reading:
        """The reading of one page, from the cache or made now; a failure is a reading too."""
        target = self._cache / f"{self._key(path, page)}.json"
        if target.is_file():
            return Reading(**json.loads(target.read_text(encoding="utf-8")))
        reading = self._ask(path, page)
        partial = target.with_suffix(".part")
        partial.write_text(json.dumps(asdict(reading), ensure_ascii=False), encoding="utf-8")
        partial.replace(target)
        return reading

    def _key(self, path: Path, page: int) -> str:
        digest = hashlib.sha256()
        for part in (
            self.version.encode(),
            json.dumps(dict(self.runner.options), sort_keys=True).encode(),
            self.runner.source.read_bytes(),
            path.read_bytes(),
            str(page).encode(),
        ):
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()[:32]

    def _ask(self, path: Path, page: int) -> Reading:
        if self._child is None:
            self._start()
            for warm in self._warm_up:
                self._request(warm, 1)
        return self._request(path, page)

    def _request(self, path: Path, page: int) -> Reading:
        child = self._child or self._start()
        if child.stdin is None or child.stdout is None:
            raise RuntimeError("the child has no pipes")
        try:
            child.stdin.write(json.dumps({"path": str(path.resolve()), "page": page}) + "\n")
            child.stdin.flush()
            line = self._line(child)
        except BrokenPipeError:
            line = ""
        if line is None:
            self._end(grace=0.0)
            return Reading("", self._limit, self._limit, 0.0, f"over {self._limit:.0f} s")
        if not line:
            self._end()
            return Reading("", 0.0, 0.0, 0.0, "the engine's process ended")
        return Reading(**json.loads(line))

    def _line(self, child: subprocess.Popen[str]) -> str | None:
        """The next answer; ``None`` when the limit passed, empty when the child is gone."""
        if child.stdout is None:
            return ""
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if not selector.select(self._limit):
                return None
        return child.stdout.readline()

    def _start(self) -> subprocess.Popen[str]:
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1")
        environment["PYTHONPATH"] = f"{_ROOT}{os.pathsep}{_ROOT / 'src'}"
        self._child = subprocess.Popen(
            [
                self.runner.python,
                "-m",
                "benchmarks.accuracy.child",
                self.runner.factory,
                json.dumps(dict(self.runner.options)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("MOONPRESS_BENCH_DEBUG") else subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
            cwd=_ROOT,
            start_new_session=True,
        )
        return self._child

    def _end(self, *, grace: float = 5.0) -> None:
        """Close the child's input, wait a moment, then kill its whole process group."""
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=grace)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
