"""Servers end when they should, with all that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from moonpress.serving.replicas.report import State
from tests.serving.replicas.fleet import QUICK, Stage, alive, play

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are those of POSIX")


def test_what_a_dead_server_leaves_is_killed(stage: Stage) -> None:
    """Its children would keep the memory of the GPU."""
    stage.tell(all={"child": True})

    async def work() -> None:
        await stage.until_state(State.READY)
        os.kill(stage.notes("start", "one")[0]["pid"], signal.SIGKILL)
        child = stage.notes("child", "one")[0]["pid"]
        await stage.until(lambda: not alive(child))

    play(stage, work)
    assert not any(alive(note["pid"]) for note in stage.notes("child"))


def test_one_that_ignores_sigterm_is_killed(stage: Stage) -> None:
    stage.settings = replace(QUICK, grace=0.3)
    stage.tell(all={"ignore_term": True, "child": True})

    async def work() -> None:
        await stage.until_state(State.READY)

    play(stage, work)
    ended = [note["pid"] for kind in ("start", "child") for note in stage.notes(kind)]
    assert len(ended) == 4
    assert not any(alive(pid) for pid in ended)


def test_servers_end_with_a_service_that_is_killed(stage: Stage, checkout: Path) -> None:
    stage.tell(all={"ignore_term": True, "child": True})
    code = f"""
import anyio
from pathlib import Path
from tests.serving.replicas.fleet import Stage, play
stage = Stage(Path({str(stage.script)!r}))
play(stage, anyio.sleep_forever)
"""
    service = subprocess.Popen([sys.executable, "-c", code], cwd=checkout)
    try:
        _wait(lambda: len(stage.notes("child")) == 2)
    finally:
        service.kill()
        service.wait()
    pids = [note["pid"] for kind in ("start", "child") for note in stage.notes(kind)]
    _wait(lambda: not any(alive(pid) for pid in pids))


def _wait(fact: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not fact():
        assert time.monotonic() < give_up
        time.sleep(0.05)
