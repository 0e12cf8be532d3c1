"""Ctrl-C and SIGTERM in the middle of a run: one line, no children, no half file."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.command import COMMAND, Chandra
from tests.cli.small_pdf import small_pdf


@pytest.fixture
def running(chandra: Chandra) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the command in a process group of its own; wait until it has read a page."""
    started: list[subprocess.Popen[bytes]] = []
    (chandra.folder / "many.pdf").write_bytes(small_pdf(500))

    def start(*options: str) -> subprocess.Popen[bytes]:
        log = chandra.folder.parent / "log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [COMMAND, "many.pdf", "-o", "out/", "--verbose", *options],
                cwd=chandra.folder,
                env={**chandra.env, "SCRIPTED_DELAY": "0.1", "TMPDIR": str(chandra.folder)},
                stderr=stream,
                start_new_session=True,
            )
        started.append(process)
        deadline = time.monotonic() + 30
        while b"page_done" not in log.read_bytes():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def to_the_group(process: subprocess.Popen[bytes], number: int) -> None:
    os.killpg(process.pid, number)


def to_the_process(process: subprocess.Popen[bytes], number: int) -> None:
    process.send_signal(number)


@pytest.mark.parametrize("send", [to_the_group, to_the_process])
@pytest.mark.parametrize("engine", ["scripted", "embedded"])
@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_a_signal_ends_the_run_cleanly(
    *,
    chandra: Chandra,
    running: Callable[..., subprocess.Popen[bytes]],
    send: Callable[[subprocess.Popen[bytes], int], None],
    engine: str,
    number: signal.Signals,
    said: str,
) -> None:
    process = running("--engine", engine, "--ocr", "never")
    children = psutil.Process(process.pid).children(recursive=True)
    assert children

    send(process, number)

    assert process.wait(timeout=10) == 128 + number
    _, alive = psutil.wait_procs(children, timeout=2)
    assert alive == []
    log = (chandra.folder.parent / "log").read_text()
    assert log.splitlines()[-1].startswith(f"error: many.pdf: stopped by {said}. ")
    assert "Traceback" not in log
    assert {name for name in chandra.files() if name != "out"} == {"three.pdf", "many.pdf"}


def test_hang_up_is_ignored_under_nohup(
    chandra: Chandra, running: Callable[..., subprocess.Popen[bytes]]
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = running("--engine", "scripted")
    finally:
        signal.signal(signal.SIGHUP, before)

    process.send_signal(signal.SIGHUP)

    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def test_a_killed_parent_takes_its_children_along(
    running: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    process = running("--engine", "scripted")
    children = psutil.Process(process.pid).children(recursive=True)
    assert children

    process.kill()
    process.wait()

    _, alive = psutil.wait_procs(children, timeout=3)
    assert alive == []
