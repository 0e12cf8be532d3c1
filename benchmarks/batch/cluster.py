"""What a Ray cluster adds to a run.

``python -m benchmarks.batch.cluster [--documents 128] [--pages 10] [--nodes 1]`` starts a cluster
of so many nodes on this machine and reads the same documents once without it and once on it, with
an engine that takes 0.2 seconds a page and as many pages at once in both. Prints, for each, seconds
until the first page, pages a second from there to the end, and CPU-seconds a page of all processes
(looked at five times a second, so that what starts and ends in between is missed); and the ratios.
Both draw real pages, so that on few cores both are bound by that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.batch import scripted_engine
from tests.batch.command import COMMAND, batch_in
from tests.generators import join_pages, prose, tables

_SECONDS_A_PAGE = 0.2
_IN_FLIGHT = 48


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=128)
    parser.add_argument("--pages", type=int, default=10, help="of each document")
    parser.add_argument("--nodes", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mp-", dir="/tmp") as folder:
        here = Path(folder)
        env = batch_in(here, scripted_engine.install(here / "plugins")).env
        env |= {"SCRIPT_DELAY": str(_SECONDS_A_PAGE), "TMPDIR": folder}
        env |= {"RAY_USAGE_STATS_ENABLED": "0"}
        # A log of each page is for tests.
        del env["SCRIPT_LOG"]
        _make_documents(here / "in", options.documents, options.pages)
        results: dict[str, Any] = {"pages": options.documents * options.pages}
        results["one machine"] = _measured(here, "alone", env, _IN_FLIGHT, ())
        with _cluster(options.nodes, env) as (address, began):
            results["start of the cluster"] = began
            each = _IN_FLIGHT // options.nodes
            results["ray"] = _measured(here, "ray", env, each, ("--ray", address))
    alone, ray = results["one machine"], results["ray"]
    results["ratio"] = {
        name: round(ray[name] / alone[name], 3)
        for name in ("steady_pages_per_second", "cpu_seconds_per_page", "seconds")
    }
    sys.stdout.write(json.dumps(results, indent=1) + "\n")


def _make_documents(folder: Path, count: int, pages: int) -> None:
    kinds = [prose.columns(2), prose.one_column(), prose.headings(), *tables.simple_tables()[:2]]
    data = join_pages([kinds[i % len(kinds)] for i in range(pages)])
    for number in range(count):
        (folder / f"paper{number:04}.pdf").write_bytes(data)


@contextmanager
def _cluster(nodes: int, env: dict[str, str]) -> Iterator[tuple[str, float]]:
    began = time.perf_counter()
    command = [sys.executable, "-m", "tests.batch.ray_nodes", str(nodes)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        yield address, round(time.perf_counter() - began, 2)
        process.communicate()


def _measured(
    folder: Path, name: str, env: dict[str, str], workers: int, extra: Sequence[str]
) -> dict[str, float]:
    arguments = ["in", "-o", name, "--workers", str(workers), "--quiet", *extra]
    spent = _Spent()
    began = time.perf_counter()
    subprocess.run([str(COMMAND), *arguments], cwd=folder, env=env, check=True)
    seconds = time.perf_counter() - began
    spent.ended.set()
    report = json.loads((folder / name / "report.json").read_bytes())
    (first, some), (last, pages) = report["curve"][0], report["curve"][-1]
    return {
        "seconds": round(seconds, 2),
        "first_page_after": first,
        "steady_pages_per_second": round((pages - some) / (last - first), 2),
        "cpu_seconds_per_page": round(spent.seconds / pages, 4),
    }


class _Spent:
    """CPU time that all descendants of this process spend from now on."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._seen: dict[psutil.Process, float] = {}
        self._look()
        self._before = self.seconds
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def seconds(self) -> float:
        return sum(self._seen.values()) - getattr(self, "_before", 0.0)

    def _watch(self) -> None:
        while not self.ended.wait(0.2):
            self._look()

    def _look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            self._seen[process] = times.user + times.system


if __name__ == "__main__":
    main()
