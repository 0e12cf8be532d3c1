"""Who is written with whom, and what failures of the model's process mean, with a scripted one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import anyio
import numpy as np
import pytest

from moonpress.engines.hf.batches import Batches, Job
from moonpress.engines.hf.messages import ModelFacts, PageOrder, Progress
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import BadOutput, EngineError, EngineRejected, EngineUnavailable
from moonpress.processes import WorkerDied, WorkerError, WorkerProcess

ENDING = Ending(True, 10, 2)
Steps = Sequence[Progress | Exception]


class Script:
    """A process whose batches go as ``plan`` says; batches that it does not name go well."""

    def __init__(self, plan: dict[int, Steps]) -> None:
        self.plan = plan
        self.alive = False
        self.starts = 0
        self.batches: list[tuple[int, float]] = []
        self.stops: list[list[int]] = []
        self.steps: list[Progress | Exception] = []

    async def start(self, **_options: float) -> None:
        self.starts += 1
        self.alive = True

    async def call(self, method: str, *args: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        if method == "facts":
            return ModelFacts("cpu", "qwen3_5", 1000, 10)
        if method == "begin":
            orders, temperature, _ = args
            well = [Progress(tuple((row, ENDING) for row in range(len(orders))), over=True)]
            self.steps = list(self.plan.get(len(self.batches), well))
            self.batches.append((len(orders), temperature))
            return None
        self.stops.append(*args)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            self.alive = not isinstance(step, WorkerDied)
            raise step
        return step

    def kill(self) -> None:
        self.alive = False

    async def aclose(self) -> None:
        return


def job(temperature: float = 0.0) -> Job:
    return Job(PageOrder(np.zeros((20, 10, 3), np.uint8), 1.0, 100), Sampling(temperature))


def write(
    script: Script, jobs: Sequence[Job], most: int, act: Callable[[], None] = lambda: None
) -> list[Ending | EngineError]:
    """What comes last for each page."""

    async def last(one: Job) -> Ending | EngineError:
        while True:
            piece = await one.news.get()
            if not isinstance(piece, Written):
                return piece

    async def go() -> list[Ending | EngineError]:
        batches = Batches(lambda: cast("WorkerProcess", script))
        batches.allow(most)
        for one in jobs:
            batches.add(one)
        act()
        with anyio.fail_after(20):
            ends = [await last(one) for one in jobs if not one.given_up]
        await batches.aclose()
        return ends

    return anyio.run(go)


def test_pages_with_other_sampling_wait_for_their_own_batch() -> None:
    script = Script({})
    assert write(script, [job(), job(0.4), job(), job(0.4), job()], 2) == [ENDING] * 5
    assert script.batches == [(2, 0.0), (2, 0.4), (1, 0.0)]
    assert script.starts == 1


def test_a_page_given_up_while_it_waits_is_never_written() -> None:
    script, pages = Script({}), [job(), job(), job()]
    pages[1].given_up = True
    assert write(script, pages, 8) == [ENDING] * 2
    assert script.batches == [(2, 0.0)]


def test_a_page_given_up_while_it_is_written_is_told_once() -> None:
    gone = job()
    quiet = Progress(((0, Written("a")),))

    class GivenUp(Script):
        async def call(self, method: str, *args: Any) -> Any:
            gone.given_up = method == "advance" or gone.given_up
            return await super().call(method, *args)

    script = GivenUp({0: [quiet, quiet, Progress(((0, ENDING),), over=True)]})
    assert write(script, [job(), gone], 2) == [ENDING]
    assert script.stops == [[], [1], []]


def test_a_batch_that_is_too_large_for_the_gpu_is_halved_for_good() -> None:
    script = Script({0: [Progress((), over=True, out_of_memory=True)]})
    assert write(script, [job() for _ in range(5)], 5) == [ENDING] * 5
    assert [count for count, _ in script.batches] == [5, 3, 2]


def test_a_page_that_was_begun_when_memory_ran_out_is_tried_again_by_others() -> None:
    begun = Progress(((1, Written("a")),))
    script = Script({0: [begun, Progress((), over=True, out_of_memory=True)]})
    first, second = write(script, [job(), job()], 2)
    assert first == ENDING
    assert isinstance(second, BadOutput)
    assert "2 pages at once. Lower --batch-size" in str(second)


def test_a_page_too_large_for_the_gpu_alone_is_rejected() -> None:
    script = Script({0: [Progress((), over=True, out_of_memory=True)]})
    (end,) = write(script, [job()], 1)
    assert isinstance(end, EngineRejected)
    assert "too little memory for a picture of 10x20 pixels" in str(end)


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (WorkerError("ValueError", "no such thing", "traceback"), "model failed: ValueError: no"),
        (WorkerDied(-11, "first\nSegmentation fault"), "ended by itself.*-11.*Segmentation fault"),
        (WorkerDied(-9, ""), "was killed, probably because this machine has too little memory"),
    ],
)
def test_a_batch_that_fails_may_be_tried_again(failure: Exception, words: str) -> None:
    script = Script({0: [failure]})
    first, second = write(script, [job(), job(0.4)], 1)
    assert isinstance(first, BadOutput)
    with pytest.raises(BadOutput, match=words):
        raise first
    assert second == ENDING
    assert script.starts == 1 + isinstance(failure, WorkerDied)


def test_a_model_that_is_gone_is_told_to_all() -> None:
    class Gone(Script):
        async def start(self, **_options: float) -> None:
            raise EngineUnavailable("the folder is empty")

    ends = write(Gone({}), [job(), job()], 1)
    assert [type(end) for end in ends] == [EngineUnavailable] * 2


def test_no_page_waits_forever_for_a_batch_with_a_bug() -> None:
    script = Script({0: [ZeroDivisionError("oops")]})
    ends = write(script, [job(), job()], 1)
    assert ["has a bug: ZeroDivisionError" in str(end) for end in ends] == [True, True]
