"""The supervisor with servers that die, hang, fail, never start and grow."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace

import anyio
import pytest

from moonpress.errors import BadOutput, EngineUnavailable
from moonpress.serving.replicas.complaints import KnownFailure
from moonpress.serving.replicas.report import State
from moonpress.serving.replicas.spec import ReplicaSpec, Role
from tests.engines.scripted import page
from tests.serving.replicas.fleet import QUICK, Stage, alive, play

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are those of POSIX")


def test_all_come_up_and_share_the_pages(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONPRESS_SERVE_KEYS", "secret")
    stage.devices = ("3",)

    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(all={"page_seconds": 0.3})
        readers = await stage.read_many(8)
        assert sorted(readers) == ["one"] * 4 + ["two"] * 4
        assert stage.engine.capacity == 64
        starts = stage.notes("start")
        assert [(start["devices"], start["secrets"]) for start in starts] == [("3", [])] * 2
        # They are on this machine's own address, and still nobody else gets in.
        keys = {request["key"] for request in stage.notes("request")}
        assert len(keys) == 1
        assert len(str(keys.pop())) > 30

    play(stage, work)
    assert not any(alive(start["pid"]) for start in stage.notes("start"))


def test_one_that_dies_under_load_costs_no_page_and_comes_back(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(all={"page_seconds": 1.0})
        readers: list[str] = []

        async def read() -> None:
            readers.extend(await stage.read_many(60))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await stage.until(lambda: stage.report("one").in_flight >= 20)
            os.kill(stage.notes("start", "one")[0]["pid"], signal.SIGKILL)
            killed = time.monotonic()
            await stage.until(lambda: stage.report("one").state != State.READY)
            assert time.monotonic() - killed < 2.0
            stage.tell()
        assert len(readers) == 60
        await stage.until_state(State.READY)
        assert stage.report("one").restarts == 1
        assert "code 137" in str(stage.said)
        assert set(await stage.read_many(8)) == {"one", "two"}

    play(stage, work)


def test_one_that_hangs_is_avoided_then_killed_and_its_pages_read_elsewhere(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(all={"page_seconds": 0.5})
        readers: list[str] = []

        async def read() -> None:
            readers.extend(await stage.read_many(20))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await stage.until(lambda: stage.report("one").in_flight >= 10)
            os.kill(stage.notes("start", "one")[0]["pid"], signal.SIGSTOP)
            await stage.until_state(State.SUSPECT, "one")
            assert set(await stage.read_many(3)) == {"two"}
        assert len(readers) == 20
        await stage.until_state(State.READY)
        assert stage.report("one").restarts == 1
        assert "no sign of life" in stage.said[0]

    play(stage, work)


def test_one_that_is_slow_to_answer_is_trusted_again(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(one={"health_seconds": 1.0})
        await stage.until_state(State.SUSPECT, "one")
        stage.tell()
        await stage.until_state(State.READY)
        assert stage.report("one").restarts == 0

    play(stage, work)


def test_pages_that_do_not_move_are_read_elsewhere(stage: Stage) -> None:
    """Its health is well, as when the processes of a GPU group wait for each other."""
    stage.settings = replace(QUICK, stall=1.0)

    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(one={"stall": True})
        assert await stage.read_many(4) == ["two"] * 4
        await stage.until(lambda: stage.report("one").restarts == 1)
        assert "have not moved" in stage.said[0]

    play(stage, work)


def test_one_whose_health_fails_is_restarted(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(one={"health": 503})
        await stage.until(lambda: stage.report("one").restarts == 1)
        stage.tell()
        await stage.until_state(State.READY)
        assert "status 503" in stage.said[0]

    play(stage, work)


def test_one_that_fails_on_every_page_is_restarted_and_no_page_lost(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(one={"status": 500})
        while not stage.said:
            assert await stage.read_many(1) == ["two"]
        await stage.until(lambda: stage.report("one").restarts == 1)
        assert "it failed on 5 pages in a row" in stage.said[0]

    play(stage, work)


def test_a_page_on_which_all_fail_ejects_nobody(stage: Stage) -> None:
    """Such as a picture that vLLM answers with 500."""

    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(all={"status": 500})
        for number in range(4):
            with pytest.raises(BadOutput, match="as the script says"):
                await stage.engine.read(page(number))
        stage.tell()
        await stage.read_many(2)
        assert [one.state for one in stage.supervisor.reports()] == [State.READY] * 2

    play(stage, work)


def test_a_start_that_never_ends_is_given_up(stage: Stage) -> None:
    stage.settings = replace(QUICK, start=0.5, vain_starts=2)
    stage.tell(two={"never_ready": True, "ignore_term": True, "child": True})

    async def work() -> None:
        await stage.until_state(State.FAILED, "two")
        await stage.until_state(State.READY, "one")
        assert "it was not ready after 0 s, at 2 starts in a row" in stage.said[-1]
        assert not stage.supervisor.hopeless.is_set()
        assert await stage.read_many(2) == ["one"] * 2
        children = stage.notes("child", "two")
        assert len(children) == 2
        assert not any(alive(child["pid"]) for child in children)

    play(stage, work)


def _out_of_memory(lines: tuple[str, ...]) -> KnownFailure | None:
    if any("CUDA out of memory" in line for line in lines):
        return KnownFailure("the GPU has too little memory", "Lower --gpu-memory-utilization", True)
    return None


def test_a_final_failure_is_told_with_its_remedy_and_not_tried_again(stage: Stage) -> None:
    stage.diagnose = _out_of_memory
    stage.tell(all={"say": ["(Core pid=7) ERROR 12-01 CUDA out of memory."], "exit": 1})

    async def work() -> None:
        with anyio.fail_after(60):
            await stage.supervisor.hopeless.wait()
        assert len(stage.notes("start")) == 2
        assert [one.state for one in stage.supervisor.reports()] == [State.FAILED] * 2
        error = stage.supervisor.error()
        assert error is not None
        assert error.exit_code == 5
        assert str(error) == (
            "no replica can run: one, two: the GPU has too little memory."
            " Lower --gpu-memory-utilization [engine-unavailable]"
        )

    play(stage, work)
    assert sorted(stage.said)[0] == (
        "one cannot run: the GPU has too little memory. Lower --gpu-memory-utilization"
    )


def test_a_server_that_stays_without_its_engine_is_ended(stage: Stage) -> None:
    stage.names = ("one",)
    stage.diagnose = _out_of_memory
    stage.settings = replace(QUICK, start=600, grace=0.5)
    lines = ["CUDA out of memory.", "(EngineCore pid=7) ERROR 12-01 EngineCore failed to start."]
    stage.tell(all={"say": lines, "never_ready": True, "ignore_term": True})

    async def work() -> None:
        with anyio.fail_after(60):
            await stage.supervisor.hopeless.wait()
        assert "the GPU has too little memory" in str(stage.supervisor.error())

    play(stage, work)


def test_starts_that_fail_for_no_known_reason_end_too(stage: Stage) -> None:
    stage.names = ("one",)
    stage.tell(all={"say": ["error: unrecognized arguments: --foo"], "exit": 2})

    async def work() -> None:
        with anyio.fail_after(60):
            await stage.supervisor.hopeless.wait()
        assert len(stage.notes("start")) == QUICK.vain_starts
        assert "unrecognized arguments: --foo" in str(stage.supervisor.error())

    play(stage, work)


def test_one_that_fails_at_first_is_started_again(stage: Stage) -> None:
    stage.names = ("one",)
    stage.tell(all={"exit": 1})

    async def work() -> None:
        await stage.until(lambda: len(stage.notes("start")) == 2)
        stage.tell()
        await stage.until_state(State.READY)
        assert stage.report("one").restarts >= 2

    play(stage, work)


def test_restarting_all_fails_no_page(stage: Stage) -> None:
    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(all={"page_seconds": 0.1})
        done, failures = 0, []
        ended = anyio.Event()

        async def load(number: int) -> None:
            nonlocal done
            while not ended.is_set():
                try:
                    await stage.engine.read(page(number))
                except EngineUnavailable as error:
                    failures.append(error)
                done += 1

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(load, number)
            await stage.until(lambda: done > 10)
            stage.supervisor.restart_all()
            together = []

            def restarted() -> bool:
                states = [one.state for one in stage.supervisor.reports()]
                together.append(sum(state == State.READY for state in states))
                return sum(one.restarts for one in stage.supervisor.reports()) == 2

            await stage.until(restarted)
            await stage.until_state(State.READY)
            before = done
            await stage.until(lambda: done > before + 10)
            ended.set()
        assert failures == []
        assert min(together) == 1
        assert [len(stage.notes("start", name)) for name in stage.names] == [2, 2]
        # A page that a server was told to forget would have been asked for again.
        assert len(stage.notes("request")) == done

    play(stage, work)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much processes hold")
def test_one_that_grows_is_restarted_in_peace(stage: Stage) -> None:
    stage.settings = replace(QUICK, memory_limit=100 << 20)

    async def work() -> None:
        await stage.until_state(State.READY)
        stage.tell(one={"hold": 60 << 20, "page_seconds": 0.2}, two={"page_seconds": 0.2})
        await stage.read_many(4)
        await stage.until(lambda: stage.report("one").restarts == 1)
        stage.tell()
        await stage.until_state(State.READY)
        await stage.read_many(4)
        assert stage.report("two").restarts == 0
        # Nobody needs to know of what works as it should.
        assert stage.said == []
        assert len(stage.notes("request")) == 8

    play(stage, work)


def test_a_group_that_loses_a_gpu_goes_on_with_the_rest(stage: Stage) -> None:
    stage.names, stage.devices = ("one",), ("0", "1", "2", "3")
    left: list[tuple[str, ...]] = [("0", "2")]
    stage.replan = lambda spec: replace(spec, devices=left[0]) if left[0] else None

    async def work() -> None:
        await stage.until_state(State.READY)
        os.kill(stage.notes("start")[0]["pid"], signal.SIGKILL)
        await stage.until(lambda: len(stage.notes("start")) == 2)
        assert stage.notes("start")[1]["devices"] == "0,2"
        await stage.until_state(State.READY)
        left[0] = ()
        os.kill(stage.notes("start")[1]["pid"], signal.SIGKILL)
        with anyio.fail_after(60):
            await stage.supervisor.hopeless.wait()
        assert "none of its GPUs (0, 2) is left" in str(stage.supervisor.error())

    play(stage, work)


def test_an_encoder_is_asked_before_the_decoder_and_its_folder_cleaned(stage: Stage) -> None:
    folder = stage.script.parent / "handover"
    left = folder / ("0" * 64) / "encoder_cache.safetensors"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"of a service that is gone")
    (folder / "somebody's").mkdir()
    (folder / "somebody's" / "file").write_text("stays")
    config = f'{{"ec_connector_extra_config": {{"shared_storage_path": "{folder}"}}}}'
    stage.names = ("encoder", "decoder")
    stage.roles = {"encoder": Role.ENCODER, "decoder": Role.DECODER}
    stage.arguments = ("--ec-transfer-config", config)

    async def work() -> None:
        await stage.until_state(State.READY)
        assert not left.parent.exists()
        assert stage.engine.capacity == 32
        assert await stage.read_many(3) == ["decoder"] * 3
        asked = [note["name"] for note in stage.notes("request")]
        assert sorted(asked) == ["decoder"] * 3 + ["encoder"] * 3
        assert asked[0] == "encoder"
        # Without it the decoder reads alone.
        stage.tell(encoder={"exit": 1})
        os.kill(stage.notes("start", "encoder")[0]["pid"], signal.SIGKILL)
        await stage.until(lambda: stage.report("encoder").state != State.READY)
        assert await stage.read_many(3) == ["decoder"] * 3
        assert len(stage.notes("request", "encoder")) == 3
        left.parent.mkdir()
        left.write_bytes(b"of this one")

    play(stage, work)
    assert [path.name for path in folder.iterdir()] == ["somebody's"]


def test_a_spec_is_left_as_it_is_while_its_gpus_are(stage: Stage) -> None:
    asked: list[ReplicaSpec] = []

    def replan(spec: ReplicaSpec) -> ReplicaSpec:
        asked.append(spec)
        return spec

    stage.names, stage.devices, stage.replan = ("one",), ("0", "1"), replan

    async def work() -> None:
        await stage.until_state(State.READY)
        os.kill(stage.notes("start")[0]["pid"], signal.SIGKILL)
        await stage.until(lambda: len(stage.notes("start")) == 2)
        assert [spec.devices for spec in asked] == [("0", "1")]

    play(stage, work)
