"""Ours and the original command over the same documents and the same stand-in for a server.

``python -m benchmarks.batch.against_original [--pages 123] [--group 1]`` makes 8 PDFs, starts
`benchmarks.client.server` at 2 seconds a page with unlimited places, and runs the ``chandra`` of
``chandra-ocr`` and our ``chandra-batch`` one after the other. Owns the comparison; both are run as
their users run them. Prints pages a second, CPU-seconds a page and the peak of resident memory of
all their processes (private plus a share of what is shared).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.generators import join_pages, prose, tables

_DOCUMENTS = 8
_SECONDS_A_PAGE = 2.0
_TOKENS = 1150
_BIN = Path(sys.executable).parent


def main() -> None:
    """Run both and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=123, help="of each of the 8 documents")
    parser.add_argument("--group", type=int, default=1, help="tokens in one event of the stream")
    parser.add_argument("--workers", type=int, default=64, help="pages in flight, ours")
    parser.add_argument("--only", choices=["ours", "original"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _server(options.group) as url:
        documents = Path(folder) / "in"
        _make_documents(documents, options.pages)
        commands: dict[str, list[str | Path]] = {
            "original": [
                _BIN / "chandra",
                documents,
                Path(folder) / "original",
                "--method",
                "vllm",
            ],
            "ours": [
                *(_BIN / "chandra-batch", documents, "-o", Path(folder) / "ours"),
                *("--engine", "vllm", "--workers", str(options.workers), "--quiet"),
            ],
        }
        environment = {"VLLM_API_BASE": url, "VLLM_MODEL_NAME": "chandra", "MOONPRESS_URL": url}
        pages = _DOCUMENTS * options.pages
        results = {
            name: _measured(command, environment, pages)
            for name, command in commands.items()
            if options.only in {None, name}
        }
    if len(results) == 2:
        rates = {name: result["pages_per_second"] for name, result in results.items()}
        results["ratio"] = {"pages_per_second": round(rates["ours"] / rates["original"], 2)}
    sys.stdout.write(json.dumps(results, indent=1) + "\n")


def _make_documents(folder: Path, pages: int) -> None:
    folder.mkdir()
    kinds = [prose.columns(2), prose.one_column(), prose.headings(), *tables.simple_tables()[:2]]
    data = join_pages([kinds[i % len(kinds)] for i in range(pages)])
    for number in range(_DOCUMENTS):
        (folder / f"paper{number}.pdf").write_bytes(data)


@contextmanager
def _server(group: int) -> Iterator[str]:
    arguments = [str(_TOKENS), str(_TOKENS / _SECONDS_A_PAGE), str(group)]
    command = [sys.executable, "-m", "benchmarks.client.server", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _measured(
    command: Sequence[str | Path], environment: Mapping[str, str], pages: int
) -> dict[str, float]:
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        peak = _Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        peak.ended.set()
        if status:
            output.seek(0)
            raise RuntimeError(f"{command[0]} ended with {status}: {output.read()[-2000:]!r}")
    return {
        "seconds": round(seconds, 2),
        "pages_per_second": round(pages / seconds, 2),
        "cpu_seconds_per_page": round((usage.ru_utime + usage.ru_stime) / pages, 4),
        "peak_mb": round(peak.bytes / 1e6),
    }


class _Peak:
    """The most memory that a process and its descendants held, looked at five times a second."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self.ended = threading.Event()
        threading.Thread(target=self._watch, args=(psutil.Process(pid),), daemon=True).start()

    def _watch(self, process: psutil.Process) -> None:
        while not self.ended.wait(0.2):
            held = 0
            try:
                tree = [process, *process.children(recursive=True)]
            except psutil.Error:
                return
            for one in tree:
                try:
                    held += one.memory_full_info().pss
                except psutil.Error:
                    continue
            self.bytes = max(self.bytes, held)


if __name__ == "__main__":
    main()
