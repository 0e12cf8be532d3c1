"""Worker processes: calls, errors, and every way in which a child can end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import numpy as np
import psutil
import pytest

from moonpress.errors import InputCorrupt, PageTimeout
from moonpress.processes import WorkerDied, WorkerError, WorkerProcess, WorkerTimeout

pytestmark = pytest.mark.anyio

_TARGET = "tests.processes.targets:Target"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def worker(factory: str = _TARGET, **options: object) -> AsyncIterator[WorkerProcess]:
    process = WorkerProcess(factory, **options)  # type: ignore[arg-type]
    try:
        await process.start()
        yield process
    finally:
        await process.aclose()


def gone(pid: int, *, within: float = 5.0) -> bool:
    """Whether a process ends in time; a zombie that waits for its parent has ended."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


async def test_calls_share_one_object_in_another_process() -> None:
    async with worker(kwargs={"start": 5}) as process:
        assert await process.call("add", 2) == 7
        assert await process.call("add", 3) == 10
        assert await process.call("pid") == process.pid != os.getpid()


async def test_large_arrays_arrive_whole_and_writable_in_both_directions() -> None:
    sent = np.arange(12_000_000, dtype=np.uint32).view(np.uint8).reshape(-1, 1000, 3) // 2
    async with worker() as process:
        for _ in range(2):
            answer = await process.call("double", sent)
            assert np.array_equal(answer["array"], sent * 2)
            assert answer["shape"] == sent.shape
            assert len(answer["words"]) == 200_000
            answer["array"][0, 0, 0] = 1


async def test_small_answers_follow_large_ones() -> None:
    async with worker() as process:
        big = np.ones((500, 500), dtype=np.uint8)
        assert (await process.call("double", big))["array"].sum() == 500_000
        assert await process.call("add", 1) == 1
        strided = big[::2, ::2]
        assert (await process.call("double", strided))["array"].sum() == 125_000


async def test_prints_do_not_disturb_the_protocol() -> None:
    async with worker() as process:
        assert await process.call("print_everywhere") == "printed"
        assert await process.call("add", 1) == 1


async def test_environment_is_passed_on() -> None:
    async with worker(env={"MOONPRESS_TEST_VARIABLE": "seen"}) as process:
        assert await process.call("variable", "MOONPRESS_TEST_VARIABLE") == "seen"


async def test_modules_of_the_current_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    async with worker() as process:
        assert await process.call("where") == str(tmp_path)


async def test_our_errors_arrive_with_file_page_and_hint() -> None:
    async with worker() as process:
        with pytest.raises(PageTimeout) as caught:
            await process.call("raise_ours")
        assert str(caught.value) == "a.pdf, page 3: too slow. Wait [page-timeout]"
        assert await process.call("add", 1) == 1


async def test_other_errors_name_their_kind_and_leave_the_child_alive() -> None:
    async with worker() as process:
        with pytest.raises(WorkerError) as caught:
            await process.call("raise_other")
        assert caught.value.kind == "ValueError"
        assert "raise_other" in caught.value.detail
        with pytest.raises(WorkerError):
            await process.call("unpicklable")
        assert await process.call("add", 1) == 1


@linux_only
async def test_memory_beyond_the_limit_is_refused() -> None:
    async with worker(memory_limit=100 << 20) as process:
        assert await process.call("allocate", 20 << 20) == 20 << 20
        with pytest.raises(WorkerError) as caught:
            await process.call("allocate", 300 << 20)
        assert caught.value.kind == "MemoryError"
        assert await process.call("add", 1) == 1


async def test_a_crash_tells_the_signal_and_what_was_said() -> None:
    async with worker() as process:
        with pytest.raises(WorkerDied) as caught:
            await process.call("crash")
        assert caught.value.exit_code == -signal.SIGSEGV
        assert "about to crash" in caught.value.stderr_tail
        assert not process.alive
        with pytest.raises(WorkerDied):
            await process.call("add", 1)


async def test_an_exit_tells_its_status() -> None:
    async with worker() as process:
        with pytest.raises(WorkerDied) as caught:
            await process.call("leave", 3)
        assert caught.value.exit_code == 3


async def test_a_child_killed_between_calls_is_noticed() -> None:
    async with worker() as process:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(WorkerDied) as caught:
            await process.call("add", 1)
        assert caught.value.exit_code == -signal.SIGKILL


async def test_a_timeout_kills_the_child_at_once() -> None:
    async with worker() as process:
        pid = process.pid
        assert pid is not None
        began = time.monotonic()
        with pytest.raises(WorkerTimeout):
            await process.call("sleep", 60, timeout=0.2)
        assert time.monotonic() - began < 5
        assert gone(pid)


async def test_cancelling_a_call_kills_the_child() -> None:
    async with worker() as process:
        pid = process.pid
        assert pid is not None
        with anyio.move_on_after(0.2) as scope:
            await process.call("sleep", 60)
        assert scope.cancelled_caught
        assert not process.alive
        assert gone(pid)


async def test_closing_ends_the_child() -> None:
    async with worker() as process:
        pid = process.pid
        assert pid is not None
    assert gone(pid)
    await process.aclose()
    with pytest.raises(WorkerDied):
        await process.call("add", 1)


async def test_a_factory_may_fail_as_we_do() -> None:
    with pytest.raises(InputCorrupt) as caught:
        async with worker("tests.processes.targets:broken"):
            raise AssertionError("it must not start")
    assert caught.value.file == "b.pdf"


async def test_a_factory_may_crash() -> None:
    with pytest.raises(WorkerDied) as caught:
        async with worker("tests.processes.targets:crashing"):
            raise AssertionError("it must not start")
    assert caught.value.exit_code == 7


async def test_a_factory_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(WorkerError) as caught:
        async with worker("moonpress.no_such_module:make"):
            raise AssertionError("it must not start")
    assert caught.value.kind == "ModuleNotFoundError"


_PARENT = """
import anyio
from moonpress.processes import WorkerProcess

async def main():
    process = WorkerProcess("tests.processes.targets:Target")
    await process.start()
    print(process.pid, flush=True)
    await process.call("sleep", 600)

anyio.run(main)
"""


def test_a_child_does_not_outlive_a_parent_that_is_killed(checkout: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, env=environment
    )
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.kill()
        assert gone(child)
    finally:
        parent.kill()
        parent.communicate()


_SCRIPT = """
import anyio
from moonpress.processes import WorkerProcess

print("script runs")

async def main():
    process = WorkerProcess("tests.processes.targets:Target")
    await process.start()
    print(await process.call("add", 1))
    await process.aclose()

anyio.run(main)
"""


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path, checkout: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "script runs\n1\n"
    assert done.stderr == ""
