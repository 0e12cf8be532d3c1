"""What breaks around a run of ``chandra-batch``: renderers, engines, disks, ledgers, other runs."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.batch.command import (
    Batch,
    alive_after,
    family,
    labelled_pdf,
    make_inputs,
    wait_for,
)
from tests.cli.small_pdf import endless_pdf


def _problems(batch: Batch, item_id: str) -> list[list[str]]:
    return [[problem["code"] for problem in page["problems"]] for page in batch.pages(item_id)]


def test_renderer_hangs(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"after.pdf": 3, "zero.pdf": 2})
    (batch.inputs / "endless.pdf").write_bytes(endless_pdf())

    result = batch.read("--page-timeout", "2")

    assert result.code == 3, result.err
    assert batch.texts() >= texts
    assert _problems(batch, "endless.pdf") == [["page-timeout"], []]
    line = result.err.splitlines()[0]
    assert line.startswith("error: endless.pdf, page 1: drawing it takes longer than 2 s")
    assert batch.strays() == []


def _busiest_child(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    """A child that has worked for a second: the renderer at the endless page."""
    for child in family(process)[1:]:
        try:
            if sum(child.cpu_times()[:2]) > 2.0:
                return child
        except psutil.NoSuchProcess:
            continue
    return None


def test_renderer_killed_for_memory(batch: Batch) -> None:
    """The kernel takes the process that needs most; nobody is asked."""
    texts = make_inputs(batch.inputs, {"after.pdf": 3, "zero.pdf": 2})
    (batch.inputs / "endless.pdf").write_bytes(endless_pdf())
    process = batch.start("--page-timeout", "60")
    wait_for(lambda: _busiest_child(process) is not None)
    renderer = _busiest_child(process)
    assert renderer is not None
    renderer.kill()

    result = batch.finish(process)

    assert result.code == 3, result.err
    assert batch.texts() >= texts
    assert _problems(batch, "endless.pdf") == [["page-too-large"], []]


def test_all_renderers_die_again_and_again(batch: Batch) -> None:
    """No death of a child ends the run, leaves a document out, or costs more than its page."""
    texts = make_inputs(batch.inputs, {f"{i}.pdf": 10 for i in range(6)})
    process = batch.start("--workers", "4", SCRIPT_DELAY="0.3")
    kills = 0
    for reads in (5, 30):
        wait_for(lambda reads=reads: len(batch.reads().took) > reads)  # type: ignore[misc]
        for child in family(process)[1:]:
            child.kill()
            kills += 1

    result = batch.finish(process)

    assert kills
    assert result.code in {0, 3}, result.err
    assert batch.report()["documents"]["done"] == 6
    failed = batch.report()["pages"]["failed"]
    assert failed <= kills
    assert len(texts) - failed == len(batch.texts())
    assert batch("retry", "out").code == 0
    assert batch.read().code == 0
    assert batch.texts() == texts
    assert max(batch.reads().took.values()) == 1


def _assembler(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    """The child that stores documents: the one that no PDF library was loaded into."""
    for child in family(process)[1:]:
        try:
            maps = Path(f"/proc/{child.pid}/maps").read_text()
        except OSError:
            continue
        if "lxml" in maps and "pdfium" not in maps:
            return child
    return None


def test_assembler_killed_in_mid_write(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"long.pdf": 300, "short.pdf": 2})
    process = batch.start(SCRIPT_FIGURES="1")
    wait_for(lambda: any(batch.out.glob("long.pdf/.moonpress-*")), seconds=60)
    assembler = _assembler(process)
    assert assembler is not None
    assembler.kill()

    result = batch.finish(process)

    assert result.code == 0, result.err
    assert batch.texts() == texts
    assert batch.strays() == []


def test_assembler_killed_with_documents_that_are_not_stored_yet(batch: Batch) -> None:
    """The rows that it had gathered are gone with it; the run itself makes them anew."""
    names = {f"{index}.pdf": 4 for index in range(12)}
    make_inputs(batch.inputs, names)
    process = batch.start("--sink", "jsonl", SCRIPT_DELAY="0.1")
    wait_for(lambda: len(batch.reads().gave) > 24)
    assembler = _assembler(process)
    assert assembler is not None
    assembler.kill()

    result = batch.finish(process)

    assert result.code == 0, result.err
    rows = batch.rows()
    assert Counter(row["id"] for row in rows) == Counter(list(names))
    assert max(batch.reads().took.values()) == 1
    assert batch.strays() == []


def test_a_document_that_cannot_be_assembled_keeps_its_pages(batch: Batch) -> None:
    """What was paid for is not thrown away because the last step fails."""
    texts = make_inputs(batch.inputs, {"one.pdf": 3, "two.pdf": 3})
    batch.out.mkdir()
    # Something of the user's stands where the folder of the document should be made.
    (batch.out / "one.pdf").write_text("in the way")
    result = batch.read()
    assert result.code == 3, result.err
    assert "error: one.pdf: " in result.err
    assert batch.manifest()["one.pdf"]["status"] == "failed"
    assert batch.manifest()["two.pdf"]["status"] == "ok"

    (batch.out / "one.pdf").unlink()
    assert batch("retry", "out").code == 0
    assert batch.read().code == 0
    assert batch.texts() == texts == batch.reads().took


def test_all_replicas_die_and_come_back(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"one.pdf": 20, "two.pdf": 20})
    switch = batch.folder / "down"
    process = batch.start("--verbose", SCRIPT_DOWN=str(switch), SCRIPT_DELAY="0.05")
    wait_for(lambda: len(batch.reads().gave) > 5)
    switch.touch()
    wait_for(lambda: "engine_gone" in batch.err.read_text())
    switch.unlink()

    result = batch.finish(process)

    assert result.code == 0, result.err
    assert "engine_back" in result.err
    assert batch.texts() == texts == batch.reads().took


def test_replicas_that_stay_away_end_the_run_and_lose_nothing(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {"one.pdf": 20, "two.pdf": 20})
    switch = batch.folder / "down"
    process = batch.start("--engine-wait", "1", SCRIPT_DOWN=str(switch), SCRIPT_DELAY="0.05")
    wait_for(lambda: len(batch.reads().gave) > 5)
    switch.touch()

    result = batch.finish(process)

    assert result.code == 5, result.err
    assert "waited 1 s for it. Start it again, then the same command" in result.err
    assert batch.report()["ended"] == "engine-unavailable"
    assert batch.report()["pages"]["failed"] == 0
    switch.unlink()
    assert batch.read().code == 0
    assert batch.texts() == texts == batch.reads().took


@contextmanager
def _small_disk(folder: Path, kib: int) -> Iterator[Path]:
    """A file system of its own at ``folder``; skips where only root may make one."""
    folder.mkdir(parents=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(folder)],
        check=False,
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


# KiB: once the block is gone there is room, however often the ledger's log is written to.
_ROOM = 8192


@pytest.mark.parametrize(("full", "left"), [("output", 48), ("ledger", 200)])
def test_disk_full(batch: Batch, full: str, left: int) -> None:
    texts = make_inputs(batch.inputs, {f"{i}.pdf": 10 for i in range(6)})
    with _small_disk(batch.folder / "disk", _ROOM) as disk:
        out, ledger = (disk, batch.folder) if full == "output" else (batch.folder / "out", disk)
        batch_out = out / "read"
        arguments = ("in", "-o", batch_out, "--ledger", ledger / "ledger.sqlite")
        block = disk / "block"
        block.write_bytes(bytes((_ROOM - left) * 1024))

        result = batch(*arguments, SCRIPT_DELAY="0.05")

        assert result.code == 4, result.err
        lines = [line for line in result.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, result.err
        assert "[no-space]" in lines[0]
        assert str(disk) in lines[0]
        block.unlink()
        assert batch(*arguments).code == 0
        found = Batch(batch.folder, batch.env, batch_out)
        assert found.texts() == texts
        took = batch.reads().took
        assert set(took) == set(texts)
        # What was in flight, or could not be noted, is read again.
        assert sum(took.values()) <= len(texts) + 2 * 10
        assert found.strays() == []


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Nobody, not even root, may write below ``folder``."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    with _small_disk(folder / "disk", 1024) as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield


def test_read_only_output(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    target = batch.folder / "locked"
    target.mkdir()
    with _read_only(target):
        where = "locked/disk/read" if os.geteuid() == 0 else "locked/read"
        result = batch("in", "-o", where)
    assert result.code == 2
    assert result.line.startswith(f"error: {where}: cannot be made: ")
    assert not batch.reads().took


def test_output_that_becomes_read_only(batch: Batch) -> None:
    texts = make_inputs(batch.inputs, {f"{i}.pdf": 10 for i in range(6)})
    with _small_disk(batch.folder / "disk", 4096) as disk:
        options = ("-o", str(disk), "--ledger", "ledger.sqlite")
        process = batch.start(*options, SCRIPT_DELAY="0.05")
        wait_for(lambda: len(batch.reads().gave) > 12)
        freeze = ["mount", "-o", "remount,ro", str(disk)]
        wait_for(lambda: subprocess.run(freeze, check=False, capture_output=True).returncode == 0)
        result = batch.finish(process)
        assert result.code == 4, result.err
        assert "Read-only file system" in result.err
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        assert batch("retry", "ledger.sqlite").code == 0
        assert batch.read(*options).code == 0
        assert Batch(batch.folder, batch.env, disk).texts() == texts == batch.reads().took


def test_ledger_locked_by_another_run(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 30})
    process = batch.start("--workers", "1", SCRIPT_DELAY="0.5")
    wait_for(lambda: len(batch.reads().took) > 2)

    for arguments in (("in", "-o", "out"), ("retry", "out")):
        result = batch(*arguments)
        assert result.code == 2
        assert f"another run writes to it (process {process.pid})" in result.line
    # Looking on disturbs nobody.
    assert batch.status()["documents"]["reading"] == 1
    assert batch.finish(process).code == 0
    assert max(batch.reads().took.values()) == 1


def test_ledger_of_another_version(batch: Batch) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1})
    assert batch.read().code == 0
    database = sqlite3.connect(batch.out / ".moonpress" / "ledger.sqlite")
    with database:
        database.execute("UPDATE facts SET value = '0' WHERE name = 'version'")
    database.close()
    for arguments in (("in", "-o", "out"), ("status", "out"), ("retry", "out")):
        result = batch(*arguments)
        assert result.code == 2
        assert "this ledger was written by another version of Moonpress" in result.line


def _damaged(data: bytes, how: str) -> bytes:
    match how:
        case "text":
            return b"once upon a time " * 1000
        case "cut":
            return data[: len(data) // 2]
        case "empty":
            return b""
        case "zeros":
            return bytes(len(data))
        case "tables gone":
            return data[:100] + bytes(len(data) - 100)
        case _:
            return data[:4096] + bytes(255 - byte for byte in data[4096:])


@pytest.mark.parametrize("damage", ["text", "cut", "empty", "zeros", "tables gone", "flipped"])
def test_ledger_file_damaged(batch: Batch, damage: str) -> None:
    make_inputs(batch.inputs, {"one.pdf": 1, "two.pdf": 1})
    assert batch.read().code == 0
    ledger = batch.out / ".moonpress" / "ledger.sqlite"
    ledger.write_bytes(_damaged(ledger.read_bytes(), damage))

    result = batch.read()

    if damage == "empty":
        # As if the ledger had been deleted: all is read again.
        assert result.code == 0, result.err
        assert set(batch.reads().took.values()) == {2}
        return
    assert result.code == 2, result.err
    assert "ledger.sqlite: " in result.line
    assert "elete it, then all is read again" in result.line
    status = batch("status", "out")
    assert status.code == 2, status.err
    assert "ledger.sqlite: " in status.line
    ledger.unlink()
    assert batch.read().code == 0
    assert batch.report()["documents"]["done"] == 2


def test_a_file_that_vanishes_during_the_run(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 30, "b.pdf": 1, "c.pdf": 1})
    process = batch.start("--workers", "2", SCRIPT_DELAY="0.05")
    wait_for(lambda: len(batch.reads().took) > 1)
    (batch.inputs / "c.pdf").unlink()

    result = batch.finish(process)

    rows = batch.manifest()
    assert rows["a.pdf"]["status"] == rows["b.pdf"]["status"] == "ok"
    if "c.pdf" in rows and rows["c.pdf"]["status"] != "ok":
        assert result.code == 3
        assert rows["c.pdf"]["error"]["code"] == "input-missing"


def test_a_file_that_changes_between_runs_is_read_again(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 3, "b.pdf": 1})
    assert batch.read().code == 0
    (batch.inputs / "a.pdf").write_bytes(labelled_pdf("other", 2))
    assert batch.read().code == 0
    expected = Counter(["other page 1", "other page 2", "b.pdf page 1"])
    assert batch.texts() == expected
    assert batch.reads().took["b.pdf page 1"] == 1


def test_nothing_is_left_running(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 30})
    process = batch.start(SCRIPT_DELAY="0.05")
    wait_for(lambda: len(batch.reads().took) > 2)
    processes = family(process)
    assert len(processes) > 1
    assert batch.finish(process).code == 0
    assert alive_after(processes, 3) == []
