from __future__ import annotations

import anyio
import pytest

from moonpress.document import PageImage, PageReading
from moonpress.engines.fake import FakeEngine
from moonpress.engines.retrying import Retrying, Waiting
from moonpress.errors import EngineBusy, EngineError, EngineRejected, EngineUnavailable
from tests.engines.scripted import page


class Moody(FakeEngine):
    """Raises what it is told, in order, and reads when nothing is left."""

    def __init__(self, moods: list[EngineError]) -> None:
        super().__init__()
        self.moods = moods
        self.reads = 0

    async def read(self, image: PageImage) -> PageReading:
        self.reads += 1
        if self.moods:
            raise self.moods.pop(0)
        return await super().read(image)


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


def read(engine: Moody, time: Time, pages: int = 1) -> None:
    reader = Retrying(engine, Waiting(30.0, 100.0), sleep=time.sleep, clock=time.clock)

    async def go() -> None:
        for number in range(1, pages + 1):
            await reader.read(page(number))

    anyio.run(go)


def test_a_server_that_comes_back_is_waited_for() -> None:
    time = Time()
    read(Moody([EngineUnavailable("gone")] * 3), time)
    assert time.waits == [0.5, 1.0, 2.0]


def test_a_server_that_stays_away_is_given_up() -> None:
    time = Time()
    engine = Moody([EngineUnavailable("gone")] * 100)
    with pytest.raises(EngineUnavailable):
        read(engine, time)
    assert time.now <= 30 + 8


def test_later_pages_do_not_wait_again() -> None:
    time = Time()
    engine = Moody([EngineUnavailable("gone")] * 100)
    reader = Retrying(engine, Waiting(30.0, 100.0), sleep=time.sleep, clock=time.clock)

    async def go() -> None:
        for number in (1, 2, 3):
            with pytest.raises(EngineUnavailable):
                await reader.read(page(number))

    anyio.run(go)
    assert engine.reads <= 9 + 2
    assert time.now <= 40


def test_a_busy_server_says_when_to_come_again() -> None:
    time = Time()
    read(Moody([EngineBusy("full", retry_after=20.0)] * 2), time)
    assert len(time.waits) == 2
    assert all(20.0 <= wait <= 30.0 for wait in time.waits)


def test_a_server_that_stays_busy_is_given_up() -> None:
    with pytest.raises(EngineBusy):
        read(Moody([EngineBusy("full", retry_after=20.0)] * 100), Time())


class Poisoned(FakeEngine):
    """Goes down on page 13 and is up again for every other."""

    async def read(self, image: PageImage) -> PageReading:
        if image.number == 13:
            raise EngineUnavailable("gone")
        return await super().read(image)


def test_a_page_that_takes_its_server_down_is_not_read_for_ever() -> None:
    time = Time()

    async def between(seconds: float) -> None:
        await time.sleep(seconds)
        await reader.read(page(1))

    reader = Retrying(Poisoned(), Waiting(30.0, 100.0), sleep=between, clock=time.clock)

    async def go() -> None:
        with pytest.raises(EngineUnavailable):
            await reader.read(page(13))

    anyio.run(go)
    assert 30 <= time.now <= 40


def test_a_refused_page_is_not_read_again() -> None:
    engine = Moody([EngineRejected("no")])
    with pytest.raises(EngineRejected):
        read(engine, Time())
    assert engine.reads == 1


def test_an_engine_that_will_not_come_back_is_waited_for_no_more() -> None:
    time, engine = Time(), Moody([EngineUnavailable("gone")] * 9)
    reader = Retrying(engine, Waiting(3000.0, 100.0), sleep=time.sleep, clock=time.clock)

    async def go() -> None:
        reader.give_up()
        with pytest.raises(EngineUnavailable):
            await reader.read(page())

    anyio.run(go)
    assert engine.reads == 1
    assert time.waits == []


def test_the_capacity_of_an_engine_that_grows_is_followed() -> None:
    engine = FakeEngine(capacity=2)
    reader = Retrying(engine, Waiting(1.0, 1.0))
    assert reader.capacity == 2
    engine.capacity = 5
    assert reader.capacity == 5
