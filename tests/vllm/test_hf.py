"""The engine ``hf`` with real torch, transformers and architecture; the model's words are noise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, suppress
from pathlib import Path

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from moonpress import ChandraHFEngine
from moonpress.document import PageReading, ProblemCode
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.hf.model import LocalModel
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import EngineRejected, EngineUnavailable, UnknownName
from tests.vllm.local_model import CONTEXT, copy_calm, path_with_torch
from tests.vllm.test_vllm import page

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

GREEDY = Sampling()
PICTURE = 320  # tokens of 512 x 640 pixels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_calm(tmp_path_factory.mktemp("models") / "calm")


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    """One event loop for all tests, because a process that holds a model belongs to one."""
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as opened:
        patch.setattr(sys, "path", path_with_torch())
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield opened


@pytest.fixture(scope="module")
def local(portal: BlockingPortal, folder: Path) -> Iterator[LocalModel]:
    """A model that writes three pages together."""
    lines: list[str] = []
    model = LocalModel(str(folder), batch_size=3, confidence=True, announce=lines.append)
    portal.call(model.prepare)
    assert model.capacity == 3
    assert model.scale == 1000.0
    assert lines == [f"Loading {folder}"]
    yield model
    portal.call(model.aclose)


def limited(portal: BlockingPortal, work: Callable[[], Awaitable[None]]) -> None:
    async def go() -> None:
        with anyio.fail_after(120):
            await work()

    portal.call(go)


async def all_of(model: LocalModel, number: int, sampling: Sampling = GREEDY) -> list[Written]:
    pieces = [piece async for piece in model.write(page(number), sampling)]
    assert isinstance(pieces[-1], Ending)
    return [piece for piece in pieces if isinstance(piece, Written)]


def test_a_page_streams_with_probabilities_until_it_is_cut(
    portal: BlockingPortal, local: LocalModel
) -> None:
    async def work() -> None:
        *written, ending = [piece async for piece in local.write(page(1), GREEDY)]
        assert isinstance(ending, Ending)
        assert not ending.complete
        assert ending.prompt_tokens is not None
        assert ending.output_tokens == pytest.approx(CONTEXT - ending.prompt_tokens, abs=2)
        words = [piece for piece in written if isinstance(piece, Written)]
        assert len(words) > 100
        assert sum(piece.tokens for piece in words) == ending.output_tokens
        for piece in words:
            assert len(piece.logprobs) == len(piece.ends) == piece.tokens
            assert all(probability <= 0 for probability in piece.logprobs)

    limited(portal, work)


def test_pages_that_wait_together_are_written_together(
    portal: BlockingPortal, local: LocalModel
) -> None:
    """Also of different sizes: each is told its own number of tokens."""
    came: list[int] = []
    endings: dict[int, Ending] = {}

    async def read(number: int, width: int) -> None:
        async for piece in local.write(page(number, width, 640), GREEDY):
            came.append(number)
            if isinstance(piece, Ending):
                endings[number] = piece

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            for number, width in enumerate((512, 384, 256)):
                tasks.start_soon(read, number, width)

    limited(portal, work)
    # None has ended when the last one begins.
    assert {0, 1, 2} == set(came[:30])
    tokens = [endings[number].prompt_tokens or 0 for number in range(3)]
    assert [tokens[0] - other for other in tokens] == [0, 80, 160]


def test_a_loop_is_cut_and_the_other_pages_of_the_batch_go_on(
    portal: BlockingPortal, local: LocalModel
) -> None:
    readings: list[PageReading] = []
    others: list[int] = []

    async def guarded() -> None:
        engine = Guarded(local, Guards((GREEDY,), 100.0), preferred_dpi=192.0)
        readings.append(await engine.read(page(1)))
        assert others == []

    async def unguarded(number: int) -> None:
        others.append(sum(piece.tokens for piece in await all_of(local, number)))

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(guarded)
            tasks.start_soon(unguarded, 2)
            tasks.start_soon(unguarded, 3)

    limited(portal, work)
    (reading,) = readings
    assert [problem.code for problem in reading.problems] == [ProblemCode.REPETITION]
    assert reading.usage.output_tokens is not None
    assert reading.usage.output_tokens < 250
    assert [count > 300 for count in others] == [True, True]


def test_greedy_replies_repeat_and_warm_ones_differ(
    portal: BlockingPortal, local: LocalModel
) -> None:
    async def work() -> None:
        texts = []
        for temperature in (0.0, 0.0, 0.8):
            pieces = await all_of(local, 2, Sampling(temperature, 0.95))
            texts.append("".join(piece.text for piece in pieces))
        assert texts[0] == texts[1]
        assert texts[0] != texts[2]

    limited(portal, work)


def test_a_page_that_is_given_up_frees_the_model(portal: BlockingPortal, local: LocalModel) -> None:
    async def work() -> None:
        with anyio.move_on_after(1.0):
            async with aclosing(local.write(page(4), GREEDY)) as pieces:
                async for _ in pieces:
                    await anyio.sleep(0.5)
        # Else it would have to wait until all of the page is written.
        began = time.monotonic()
        async with aclosing(local.write(page(5), GREEDY)) as pieces:
            async for _ in pieces:
                break
        assert time.monotonic() - began < 20

    limited(portal, work)


def test_a_picture_beyond_the_context_fails_with_the_numbers(
    portal: BlockingPortal, local: LocalModel
) -> None:
    async def work() -> None:
        with pytest.raises(EngineRejected) as caught:
            await all_of_large(local)
        assert "2048 x 3072 pixels takes 6144 tokens" in str(caught.value)
        assert f"a context of {CONTEXT}" in str(caught.value)

    async def all_of_large(model: LocalModel) -> None:
        async for _ in model.write(page(3, 2048, 3072), GREEDY):
            pass

    limited(portal, work)


def test_a_process_that_is_killed_costs_no_page(portal: BlockingPortal, folder: Path) -> None:
    """And closing the engine ends the new one at once, in the middle of a page."""
    readings: list[PageReading] = []

    async def work() -> None:
        model = LocalModel(str(folder), batch_size=1, confidence=False, announce=lambda _line: None)
        engine = Guarded(model, Guards((GREEDY, GREEDY), 100.0), preferred_dpi=192.0)
        await engine.prepare()
        first = process_of(model)

        async def read() -> None:
            readings.append(await engine.read(page(1)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            async with aclosing(model.write(page(2), GREEDY)) as pieces:
                with suppress(Exception):
                    async for _ in pieces:
                        os.kill(first, signal.SIGKILL)
        second = process_of(model)
        assert second != first
        pieces = model.write(page(3), GREEDY)
        assert isinstance(await anext(pieces), Written)
        await engine.aclose()
        with pytest.raises(ProcessLookupError):
            os.kill(second, 0)
        await pieces.aclose()

    limited(portal, work)
    (reading,) = readings
    assert reading.layout is not None
    assert reading.layout.token_logprobs == ()


def process_of(model: LocalModel) -> int:
    worker = model._batches._worker
    assert worker is not None
    assert worker.pid is not None
    return worker.pid


def test_models_that_cannot_be_had(portal: BlockingPortal, tmp_path: Path) -> None:
    lines: list[str] = []

    async def prepare(model: str) -> None:
        engine = ChandraHFEngine(model, announce=lines.append)
        async with aclosing(engine):
            await engine.prepare()

    with pytest.raises(UnknownName, match="there is no folder /nowhere/at/all"):
        portal.call(prepare, "/nowhere/at/all")
    with pytest.raises(EngineUnavailable, match="holds no model that can be loaded"):
        portal.call(prepare, str(tmp_path))
    with pytest.raises(EngineUnavailable, match=r"not reached.*OpenRAIL-M") as caught:
        portal.call(prepare, "datalab-to/chandra-ocr-2")
    assert caught.value.exit_code == 5
    assert "datalab-to/chandra-ocr-2, which is downloaded the first time; its weights" in lines[-1]


def test_the_command_reads_a_pdf(folder: Path, checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "hello.json"
    code = f"import sys; sys.path[:] = {path_with_torch()!r}\nfrom moonpress.cli.pdf import main\n"
    choices = ["--engine", "hf", "--model", str(folder), "--batch-size", "2", "--dpi", "60"]
    done = subprocess.run(
        [sys.executable, "-c", f"{code}raise SystemExit(main())",
         str(checkout / "tests/data/hello.pdf"), *choices, "-o", str(out)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    # Noise may well loop or be cut, which is 3.
    assert done.returncode in {0, 3}, done.stderr
    document = json.loads(out.read_text())
    assert document["metadata"]["engine"] == "hf"
    (read,) = document["pages"]
    assert read["status"] == ("ok" if done.returncode == 0 else "partial")
    assert bool(read["problems"]) == (read["status"] == "partial")
    assert read["usage"]["output_tokens"] > 50
    assert all(0 < block["confidence"] <= 1 for block in read["blocks"])
