"""A program that kills itself at every so many lines of a sink's code, and goes on where it was.

``python -m tests.batch.sinks.killed KIND FOLDER STEP`` forks a child for every STEP lines: the
child is killed by SIGKILL at that line of ours, another one finishes its work, and then the place
has to be as after an undisturbed run. Prints how many children were killed.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from moonpress.batch.sinks.base import Sink
from moonpress.batch.sinks.folder import LocalFolderSink
from moonpress.batch.sinks.jsonl import JsonlCodec
from moonpress.batch.sinks.shards import ShardedSink, ShardLimits
from moonpress.batch.sinks.store import open_store
from moonpress.document import RenderOptions
from tests.batch.sinks.datasets import documents, leftovers, make_document

DOCUMENTS = 7
FORMATS = ("markdown", "json")
OURS = ("/moonpress/batch/", "/moonpress/outputs/disk", "/moonpress/outputs/writer", __file__)


def open_sink(kind: str, root: Path) -> Sink:
    limits = ShardLimits(size=1 << 20, rows=2)
    if kind == "folder":
        return LocalFolderSink(root, FORMATS, RenderOptions())
    if kind == "jsonl":
        return ShardedSink(open_store(str(root)), JsonlCodec(), FORMATS, RenderOptions(), limits)
    from moonpress.batch.sinks.parquet import ParquetCodec

    return ShardedSink(
        open_store(str(root)), ParquetCodec(FORMATS), FORMATS, RenderOptions(), limits
    )


def work(kind: str, root: Path, ledger: Path) -> None:
    """Write what the ledger does not have: all documents, then newer versions of three."""
    wanted = {f"a/{n}.pdf": "old" for n in range(DOCUMENTS)}
    newer = {f"a/{n}.pdf": "new" for n in (0, 1, 4)}
    sink = open_sink(kind, root)
    for versions in (wanted, newer):
        for item_id, version in versions.items():
            if f"{item_id} {version}" not in noted(ledger):
                note(
                    ledger, version, sink.write(item_id, make_document(f"{item_id} {version}"), {})
                )
        note(ledger, versions[next(iter(versions))], sink.flush())


def noted(ledger: Path) -> list[str]:
    return ledger.read_text().split("\n") if ledger.exists() else []


def note(ledger: Path, version: str, stored: list[Any]) -> None:
    with ledger.open("a") as file:
        file.write("".join(f"{entry.id} {version}\n" for entry in stored))


def killing(point: int) -> Callable[..., Any]:
    left = [point]

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if not any(part in frame.f_code.co_filename for part in OURS):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


def child(run: Callable[[], None], point: int | None) -> int:
    """Wait status of a child that runs ``run``, killed at ``point``."""
    pid = os.fork()
    if pid == 0:
        try:
            if point is not None:
                sys.settrace(killing(point))
            run()
        except Exception:  # noqa: BLE001 - the parent only sees the exit code
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def check(kind: str, root: Path) -> None:
    newer = {0, 1, 4}
    expected = {
        f"a/{n}.pdf": [f"a/{n}.pdf {'new' if n in newer else 'old'}\n"] for n in range(DOCUMENTS)
    }
    found = documents(kind, root)
    assert found == expected, found
    assert leftovers(root) == [], leftovers(root)


def main(kind: str, folder: Path, step: int) -> int:
    killed, point = 0, 1
    while True:
        root, ledger = folder / f"{point}" / "out", folder / f"{point}" / "ledger"
        root.parent.mkdir(parents=True)
        status = child(partial(work, kind, root, ledger), point)
        if os.WIFSIGNALED(status):
            killed += 1
            # What is there right after the kill is whole, and nothing is noted that is not there.
            assert child(partial(seen, kind, root, ledger), None) == 0, point
            assert child(partial(work, kind, root, ledger), None) == 0, point
        assert child(partial(check, kind, root), None) == 0, point
        if not os.WIFSIGNALED(status):
            break
        point += step
    sys.stdout.write(f"{killed}\n")
    return 0


def seen(kind: str, root: Path, ledger: Path) -> None:
    there = documents(kind, root)
    for line in filter(None, noted(ledger)):
        item_id, version = line.split(" ")
        assert any(text.split(" ")[1].strip() in {version, "new"} for text in there[item_id]), line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
