"""Ctrl-C, SIGTERM and hang-up: once is draining and a report, twice is stopping now."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from tests.batch.command import Batch, alive_after, family, make_inputs, wait_for

_PAGES = {"a.pdf": 40, "b.pdf": 40, "c.pdf": 3}


def to_the_process(process: subprocess.Popen[bytes], number: int) -> None:
    process.send_signal(number)


def to_all_processes(process: subprocess.Popen[bytes], number: int) -> None:
    """As a terminal does, or Slurm, or systemd."""
    os.killpg(process.pid, number)


@pytest.mark.parametrize("send", [to_the_process, to_all_processes])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_once_finishes_what_is_in_flight_and_reports(
    batch: Batch, send: Callable[[subprocess.Popen[bytes], int], None], number: signal.Signals
) -> None:
    texts = make_inputs(batch.inputs, _PAGES)
    process = batch.start("--workers", "4", SCRIPT_DELAY="0.3")
    wait_for(lambda: len(batch.reads().gave) > 4)
    processes = family(process)

    send(process, number)
    result = batch.finish(process)

    assert result.code == 128 + number
    assert result.err.splitlines()[0] == "Finishing the pages in flight; once more stops at once"
    assert "Not finished: the same command goes on from here" in result.err
    assert "error" not in result.err
    reads, report = batch.reads(), batch.report()
    assert set(reads.took) == set(reads.gave)
    assert len(reads.took) < len(texts)
    assert report["ended"] == "stopped"
    assert report["pages"]["read_now"] == len(reads.took)
    assert report["pages"]["by_status"] == {"ok": len(reads.took)}
    assert batch.manifest()["b.pdf"]["status"] == "pending"
    assert batch.strays() == []
    assert alive_after(processes, 3) == []

    assert batch.read().code == 0
    assert batch.texts() == texts == batch.reads().took


@pytest.mark.parametrize("send", [to_the_process, to_all_processes])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_twice_stops_at_once_and_keeps_what_was_read(
    batch: Batch, send: Callable[[subprocess.Popen[bytes], int], None], number: signal.Signals
) -> None:
    texts = make_inputs(batch.inputs, {"a.pdf": 3, "b.pdf": 3})
    assert batch.read("--limit", "1").code == 0
    process = batch.start("--workers", "4", SCRIPT_DELAY="600")
    wait_for(lambda: len(batch.reads().took) == 6)
    processes = family(process)

    send(process, number)
    wait_for(lambda: "once more" in batch.err.read_text())
    began = time.monotonic()
    send(process, number)
    result = batch.finish(process)

    assert time.monotonic() - began < 5
    assert result.code == 128 + number
    assert len(result.err.splitlines()) == 2, result.err
    said = "Ctrl-C" if number == signal.SIGINT else number.name
    assert result.err.splitlines()[1].startswith(f"error: in: stopped by {said}. ")
    assert alive_after(processes, 3) == []
    assert batch.strays() == []

    assert batch.read().code == 0
    assert batch.texts() == texts
    assert batch.reads().took["a.pdf page 1"] == 1


def test_ctrl_c_while_the_engine_is_away(batch: Batch) -> None:
    """Who waits for servers is not kept waiting."""
    texts = make_inputs(batch.inputs, {"a.pdf": 20})
    switch = batch.folder / "down"
    process = batch.start("--verbose", SCRIPT_DOWN=str(switch), SCRIPT_DELAY="0.1")
    wait_for(lambda: len(batch.reads().gave) > 2)
    switch.touch()
    wait_for(lambda: "engine_gone" in batch.err.read_text())

    process.send_signal(signal.SIGINT)

    assert batch.finish(process).code == 130
    assert batch.report()["pages"]["failed"] == 0
    switch.unlink()
    assert batch.read().code == 0
    assert batch.texts() == texts == batch.reads().took


def test_hang_up_is_ignored_under_nohup(batch: Batch) -> None:
    make_inputs(batch.inputs, {"a.pdf": 12})
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = batch.start(SCRIPT_DELAY="0.2")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(lambda: len(batch.reads().took) > 1)

    process.send_signal(signal.SIGHUP)

    assert batch.finish(process).code == 0
