"""The contract of all sinks, and what each promises beyond it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from moonpress.batch.sinks import factory
from moonpress.batch.sinks.base import Sink, Stored
from moonpress.batch.sinks.factory import SINKS, make_sink
from moonpress.batch.sinks.folder import stem_of
from moonpress.batch.sinks.scratch import Scratch
from moonpress.batch.sinks.shards import ShardLimits
from moonpress.document import PageStatus, RenderOptions
from moonpress.errors import NoSpace, OutputError, UnknownName, UsageError
from tests.batch.sinks.datasets import documents, leftovers, make_document, read_rows

KINDS = ["folder", "jsonl", "parquet"]
ROWS = ["jsonl", "parquet"]
FORMATS = ("markdown", "json")
OPTIONS = RenderOptions()


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "_LIMITS", ShardLimits(size=1 << 20, rows=3))


@pytest.fixture(params=["", "local://"], ids=["disk", "fsspec"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same folder, as a path and as an address of fsspec."""
    return f"{request.param}{tmp_path / 'out'}"


def folder_of(place: str) -> Path:
    return Path(place.removeprefix("local://"))


def test_every_sink_is_listed_here() -> None:
    assert list(SINKS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_stored_once_and_replaced(kind: str, place: str) -> None:
    sink = make_sink(kind, place, FORMATS, OPTIONS)
    names = [f"sub/{n} [x]*.pdf" for n in range(5)]
    stored = [s for name in names for s in sink.write(name, make_document(f"{name} one"), {})]
    stored += sink.flush()
    assert [s.id for s in stored] == names
    assert documents(kind, folder_of(place)).keys() == set(names)

    # A later run: one document anew, and its older copy taken out as the ledger asks.
    sink = make_sink(kind, place, FORMATS, OPTIONS)
    again = sink.write(names[1], make_document("two"), {}) + sink.flush()
    assert [s.id for s in again] == [names[1]]
    old = [s for s in stored if s.id == names[1] and s.location != again[0].location]
    assert bool(old) is (kind != "folder")
    sink.remove(old)
    sink.remove(old)
    found = documents(kind, folder_of(place))
    assert found.pop(names[1]) == ["two\n"]
    assert all(len(texts) == 1 for texts in found.values())
    assert len(found) == 4
    assert sink.flush() == []
    assert leftovers(folder_of(place)) == []


@pytest.mark.parametrize("kind", ROWS)
def test_nothing_shows_before_it_is_whole(kind: str, place: str) -> None:
    sink = make_sink(kind, place, FORMATS, OPTIONS)
    for n in range(3):
        assert sink.write(f"{n}", make_document(f"{n}"), {}) == []
    assert documents(kind, folder_of(place)) == {}
    first = sink.write("3", make_document("3"), {})
    suffix = {"jsonl": ".jsonl.zst", "parquet": ".parquet"}[kind]
    assert first == [Stored(f"{n}", f"part-00000{suffix}") for n in range(3)]
    assert documents(kind, folder_of(place)).keys() == {"0", "1", "2"}
    assert sink.flush() == [Stored("3", f"part-00001{suffix}")]


@pytest.mark.parametrize("kind", ROWS)
def test_files_are_full_by_size_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factory, "_LIMITS", ShardLimits(size=2000, rows=100))
    sink = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    stored = [s for n in range(6) for s in sink.write(f"{n}", make_document("word " * 100), {})]
    assert [s.location[:10] for s in stored] == [f"part-0000{n}" for n in range(len(stored))]
    assert len(stored) == 5
    sink.flush()


@pytest.mark.parametrize("kind", ROWS)
def test_the_same_document_twice_in_a_row_counts_once(kind: str, tmp_path: Path) -> None:
    sink = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    stored = sink.write("a", make_document("one"), {}) + sink.write("a", make_document("two"), {})
    stored += sink.flush()
    assert [s.id for s in stored] == ["a", "a"]
    assert documents(kind, tmp_path) == {"a": ["two\n"]}


@pytest.mark.parametrize("kind", ROWS)
def test_a_dataset_that_was_left_in_disorder_is_put_in_order(kind: str, tmp_path: Path) -> None:
    """As a run leaves it that was killed after a file showed and before it was noted."""
    sink: Any = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    for n in range(3):
        sink.write(f"{n}", make_document(f"{n} one"), {})
    sink.flush()
    sink = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    sink.write("1", make_document("1 two"), {})
    for n in range(7, 10):
        sink.write(f"{n}", make_document(f"{n} one"), {})
    assert documents(kind, tmp_path)["1"] == ["1 one\n", "1 two\n"]
    for path in tmp_path.glob(".part-*"):
        path.unlink()
    sink._open.writer.abandon()
    make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    assert documents(kind, tmp_path)["1"] == ["1 two\n"]
    assert documents(kind, tmp_path).keys() == {"0", "1", "2", "7", "8"}


@pytest.mark.parametrize("kind", ROWS)
def test_processes_that_write_to_one_folder_never_take_the_same_number(
    kind: str, tmp_path: Path
) -> None:
    """On a disk; fsspec's own local files are looked for and then written, and no object store."""
    sinks = [make_sink(kind, str(tmp_path), FORMATS, OPTIONS) for _ in range(2)]

    def fill(own: int, sink: Sink) -> None:
        for n in range(8):
            sink.write(f"{own}-{n}", make_document(f"{own}-{n}"), {})
        sink.flush()

    threads = [threading.Thread(target=fill, args=pair) for pair in enumerate(sinks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(documents(kind, tmp_path)) == 16


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_says_all(kind: str, tmp_path: Path) -> None:
    crop = tmp_path / "p1-b2.png"
    crop.write_bytes(b"\x89PNG picture")
    sink = make_sink(kind, str(tmp_path / "out"), (), OPTIONS)
    sink.write("a", make_document("Words\u2028here", figure=True), {"p1-b2": crop})
    sink.write("b", make_document("", status=PageStatus.FAILED), {})
    sink.flush()
    first, second = read_rows(tmp_path / "out")
    assert list(first)[:5] == ["id", "source", "sha256", "status", "page_count"]
    assert first["markdown"].endswith("![](p1-b2.png)\n")
    document = first["json"] if kind == "jsonl" else json.loads(first["json"])
    assert document["pages"][0]["blocks"][1]["figure"] == "p1-b2.png"
    (figure,) = first["figures"]
    data = b64decode(figure["data"]) if kind == "jsonl" else figure["data"]
    assert (figure["name"], figure["block"], figure["media_type"]) == (
        "p1-b2.png",
        "p1-b2",
        "image/png",
    )
    assert data == crop.read_bytes()
    assert (first["status"], first["pages"], first["failed_pages"]) == ("ok", 1, [])
    assert (second["status"], second["failed_pages"], second["figures"]) == ("failed", [1], [])
    assert first["engine"] == "by hand"
    assert first["title"] is None


@pytest.mark.parametrize("kind", ROWS)
def test_formats_are_columns(kind: str, tmp_path: Path) -> None:
    sink = make_sink(kind, str(tmp_path), ("text", "chunks"), OPTIONS)
    sink.write("a", make_document("Words"), {})
    sink.flush()
    (row,) = read_rows(tmp_path)
    assert row["text"] == "Words\n"
    assert '"tokens_estimate":1' in row["chunks"]
    assert "markdown" not in row


class Full:
    """A file on a disk that is full."""

    def write(self, _row: object) -> None:
        raise OSError(28, "No space left on device")

    def close(self) -> None:
        raise OSError(28, "No space left on device")

    def abandon(self) -> None:
        pass


@pytest.mark.parametrize("kind", ROWS)
def test_a_full_disk_is_named_and_what_was_taken_is_not_forgotten(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink: Any = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    sink.write("a", make_document("one"), {})
    sink._open.writer.abandon()
    sink._open.writer = Full()
    with pytest.raises(NoSpace):
        sink.write("b", make_document("two"), {})
    with pytest.raises(OutputError, match="Start the run again"):
        sink.flush()
    assert documents(kind, tmp_path) == {}


@pytest.mark.parametrize("kind", ROWS)
def test_a_place_that_fails_once_gets_all_later(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink: Any = make_sink(kind, str(tmp_path), FORMATS, OPTIONS)
    for n in range(3):
        sink.write(f"{n}", make_document(f"{n}"), {})
    publish: Callable[[Path, str], None] = sink._store.publish

    def fail(_file: Path, name: str) -> None:
        raise OutputError("away", file=name)

    monkeypatch.setattr(sink._store, "publish", fail)
    with pytest.raises(OutputError):
        sink.write("3", make_document("3"), {})
    monkeypatch.setattr(sink._store, "publish", publish)
    assert [s.id for s in sink.write("4", make_document("4"), {})] == ["0", "1", "2"]
    assert [s.id for s in sink.flush()] == ["4"]


@pytest.mark.parametrize("kind", KINDS)
def test_places_that_cannot_be_written_are_named(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        make_sink(kind, str(tmp_path / "file" / "out"), FORMATS, OPTIONS).write(
            "a", make_document("one"), {}
        )


def test_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="folder, jsonl, parquet"):
        make_sink("csv", str(tmp_path), (), OPTIONS)
    with pytest.raises(UnknownName, match="docx"):
        make_sink("folder", str(tmp_path), ("docx",), OPTIONS)
    with pytest.raises(UsageError, match="nosuch"):
        make_sink("jsonl", "nosuch://bucket/x", (), OPTIONS)


@pytest.mark.parametrize("kind", ROWS)
def test_damaged_files_are_named(kind: str, tmp_path: Path) -> None:
    suffix = {"jsonl": ".jsonl.zst", "parquet": ".parquet"}[kind]
    (tmp_path / f"part-00007{suffix}").write_bytes(b"no such thing")
    with pytest.raises(OutputError, match="part-00007"):
        make_sink(kind, str(tmp_path), FORMATS, OPTIONS)


def test_remote_folders_end_in_a_marker(tmp_path: Path) -> None:
    place = f"local://{tmp_path}"
    crop = tmp_path / "p1-b2.png"
    crop.write_bytes(b"picture")
    sink = make_sink("folder", place, ("markdown", "text"), OPTIONS)
    sink.write("x/2401.00001", make_document("one", figure=True), {"p1-b2": crop})
    folder = tmp_path / "x" / "2401.00001"
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == {
        ".complete", "2401.00001.md", "2401.00001.txt", "2401.00001_files/p1-b2.png",
    }  # fmt: skip
    make_sink("folder", place, ("markdown",), OPTIONS).write("x/2401.00001", make_document("2"), {})
    left = {p.name for p in folder.rglob("*") if p.is_file()}
    assert left == {".complete", "2401.00001.md"}


def test_stems() -> None:
    names = ["a/b.pdf", "2401.00001", "x.tar/scan.JPEG", ".pdf", "v1.2 final.pdf", "a.1"]
    assert [stem_of(name) for name in names] == [
        "b",
        "2401.00001",
        "scan",
        ".pdf",
        "v1.2 final",
        "a.1",
    ]


def test_scratch_of_the_living_is_kept(tmp_path: Path) -> None:
    living = Scratch(tmp_path)
    folder = living.folder
    mine = folder.name.split("-")[1]
    dead, foreign, old = (tmp_path / f".moonpress-{n}.scratch" for n in (f"{mine}-1", "x-1", "x-2"))
    for other in (dead, foreign, old):
        other.mkdir()
        (other / "lock").write_text("")
    long_ago = time.time() - 30 * 24 * 3600
    for path in (old / "lock", old):
        os.utime(path, (long_ago, long_ago))
    Scratch(tmp_path)
    assert folder.is_dir()
    assert foreign.is_dir()
    assert not dead.exists()
    assert not old.exists()
    living.close()
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "step"), [("folder", 173), ("jsonl", 211), ("parquet", 223)])
def test_killed_anywhere_it_loses_nothing(
    kind: str, step: int, tmp_path: Path, checkout: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.batch.sinks.killed", kind, str(tmp_path), str(step)],
        capture_output=True, text=True, check=False, cwd=checkout, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5


def test_parquet_is_one_table(tmp_path: Path) -> None:
    """All files have one schema, so that tools read the folder as a whole."""
    sink = make_sink("parquet", str(tmp_path), FORMATS, OPTIONS)
    for n in range(7):
        sink.write(f"{n}", make_document("" if n % 2 else f"{n}"), {})
    sink.flush()
    table = pq.read_table(tmp_path)
    assert sorted(table["id"].to_pylist()) == [f"{n}" for n in range(7)]
