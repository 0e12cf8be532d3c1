from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import pytest

from moonpress.document import PageImage, PageReading
from moonpress.engines.fake import FakeEngine
from moonpress.engines.pool import ReplicaPool
from moonpress.errors import BadOutput, EngineBusy, EngineRejected, EngineUnavailable
from tests.engines.scripted import page


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Replica(FakeEngine):
    """A fake engine that can be told to be away, and counts who asked."""

    def __init__(self, *, failure: Exception | None = None, away: bool = False) -> None:
        super().__init__()
        self.failure, self.away = failure, away
        self.reads = self.probes = 0

    async def prepare(self) -> None:
        self.probes += 1
        if self.away:
            raise EngineUnavailable(f"nobody home, asked {self.probes}")

    async def read(self, image: PageImage) -> PageReading:
        self.reads += 1
        if self.away:
            raise EngineUnavailable("gone")
        if self.failure is not None:
            raise self.failure
        return await super().read(image)


def run(work: Callable[[], Awaitable[None]]) -> None:
    anyio.run(work)


def test_pages_that_find_a_replica_left_out_share_one_look_at_it() -> None:
    """A server with too much to do would be asked as many times as pages wait for it."""

    class Slow(Replica):
        async def prepare(self) -> None:
            await anyio.sleep(0.05)
            await super().prepare()

    replica, clock = Slow(away=True), Clock()
    pool = ReplicaPool([replica], clock=clock)
    errors: list[EngineUnavailable] = []

    async def read(number: int) -> None:
        try:
            await pool.read(page(number))
        except EngineUnavailable as error:
            errors.append(error)

    async def work() -> None:
        await read(1)
        for away, looks in ((True, 1), (False, 2)):
            replica.away = away
            clock.now += 100
            async with anyio.create_task_group() as tasks:
                for number in range(2, 10):
                    tasks.start_soon(read, number)
            assert replica.probes == looks
        assert len(errors) == 1 + 8
        assert replica.reads == 1 + 8

    run(work)


def test_pages_go_to_the_replica_with_least_to_do() -> None:
    slow, quick = FakeEngine(delay=0.5, capacity=4), FakeEngine(delay=0.01, capacity=4)
    pool = ReplicaPool([slow, quick])
    assert pool.capacity == 8

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.read, page(1))
            await anyio.sleep(0.05)
            for number in range(2, 8):
                await pool.read(page(number))

    run(work)
    assert slow.most_in_flight == 1


def test_a_page_is_read_elsewhere_and_the_lost_replica_left_alone() -> None:
    lost, well, clock = Replica(away=True), Replica(), Clock()
    pool = ReplicaPool([lost, well], clock=clock)

    async def work() -> None:
        for number in range(1, 6):
            await pool.read(page(number))

    run(work)
    assert lost.reads == 1
    assert well.reads == 5


def test_a_replica_that_is_back_is_looked_at_and_used() -> None:
    lost, well, clock = Replica(away=True), Replica(), Clock()
    pool = ReplicaPool([lost, well], clock=clock)

    async def work() -> None:
        await pool.read(page(1))
        clock.now += 3
        await pool.read(page(2))
        assert lost.probes == 1
        assert lost.reads == 1
        lost.away = False
        clock.now += 10
        await pool.read(page(3))

    run(work)
    assert lost.probes == 2
    assert lost.reads == 2


def test_nobody_left_names_every_reason() -> None:
    pool = ReplicaPool([Replica(failure=EngineUnavailable("one is gone")), Replica(away=True)])

    async def work() -> None:
        with pytest.raises(EngineUnavailable, match="one is gone; gone"):
            await pool.read(page())

    run(work)


def test_a_refused_page_is_given_to_no_other() -> None:
    first, second = Replica(failure=EngineRejected("too large")), Replica()

    async def work() -> None:
        with pytest.raises(EngineRejected):
            await ReplicaPool([first, second]).read(page())

    run(work)
    assert second.reads == 0


def test_a_page_on_which_servers_fail_is_given_to_one_other() -> None:
    replicas = [Replica(failure=BadOutput(f"failed {n}")) for n in range(3)]

    async def work() -> None:
        with pytest.raises(BadOutput, match="failed 1"):
            await ReplicaPool(replicas).read(page())

    run(work)
    assert [replica.reads for replica in replicas] == [1, 1, 0]


def test_a_busy_replica_stays_in_use() -> None:
    busy, well = Replica(failure=EngineBusy("full", retry_after=3.0)), Replica()
    pool = ReplicaPool([busy, well])

    async def work() -> None:
        await pool.read(page(1))
        await pool.read(page(2))

    run(work)
    assert busy.reads == 2
    assert busy.probes == 0


def test_all_busy_waits_for_the_first() -> None:
    pool = ReplicaPool(
        [Replica(failure=EngineBusy("full", retry_after=n)) for n in (9.0, 4.0, 7.0)]
    )

    async def work() -> None:
        with pytest.raises(EngineBusy) as caught:
            await pool.read(page())
        assert caught.value.retry_after == 4.0

    run(work)


def test_the_start_needs_one_replica() -> None:
    async def work() -> None:
        await ReplicaPool([Replica(away=True), Replica()]).prepare()
        with pytest.raises(EngineUnavailable, match="nobody home"):
            await ReplicaPool([Replica(away=True), Replica(away=True)]).prepare()

    run(work)


def test_closing_closes_all() -> None:
    replicas = [FakeEngine(), FakeEngine()]
    run(ReplicaPool(replicas).aclose)
    assert all(replica.closed for replica in replicas)


def test_a_lent_replica_counts_as_busy_by_pages_then_by_bytes() -> None:
    first, second = Replica(), Replica()
    pool = ReplicaPool([first, second])

    async def work() -> None:
        async with pool.lend(100) as one, pool.lend(900) as two:
            assert one is not two
            states = pool.states()
            assert [(state.in_flight, state.bytes_in_flight) for state in states] == [
                (1, 100),
                (1, 900),
            ]
            async with pool.lend(1) as three:
                assert three is first
            async with pool.lend(1, tried=[first]) as three:
                assert three is second
        assert [state.in_flight for state in pool.states()] == [0, 0]

    run(work)


def test_equal_replicas_take_turns() -> None:
    first, second = Replica(), Replica()
    pool = ReplicaPool([first, second])

    async def work() -> None:
        for number in range(4):
            await pool.read(page(number))

    run(work)
    assert [first.reads, second.reads] == [2, 2]


def test_what_fails_in_the_hands_of_a_borrower_is_taken_out() -> None:
    first, second = Replica(), Replica()
    pool = ReplicaPool([first, second])

    async def work() -> None:
        with pytest.raises(EngineBusy):
            async with pool.lend(1):
                raise EngineBusy("full")
        assert [state.standing for state in pool.states()] == ["ready", "ready"]
        with pytest.raises(EngineUnavailable, match="gone"):
            async with pool.lend(1, tried=[second]):
                raise EngineUnavailable("gone")
        assert [state.standing for state in pool.states()] == ["out", "ready"]
        assert pool.states()[0].reason == "gone"
        with pytest.raises(EngineUnavailable, match="no server"):
            async with pool.lend(1, tried=[first, second]):
                pass

    run(work)


def test_replicas_come_and_go() -> None:
    pool = ReplicaPool([], name="fakes")
    late = FakeEngine(capacity=3)

    async def work() -> None:
        assert (pool.name, pool.capacity, pool.preferred_dpi) == ("fakes", 0, None)
        with pytest.raises(EngineUnavailable, match="no server"):
            await pool.read(page())
        pool.add(late, "late")
        assert pool.capacity == 3
        await pool.read(page())
        await pool.remove(late)
        assert pool.states() == ()
        assert pool.state(late) is None
        await pool.remove(late)

    run(work)
    assert not late.closed


def test_one_that_leaves_finishes_its_pages_and_gets_no_more() -> None:
    leaving, staying = FakeEngine(delay=0.2), FakeEngine(delay=0.2)
    pool = ReplicaPool([leaving, staying])

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.read, page(1))
            tasks.start_soon(pool.read, page(2))
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(partial(pool.remove, leaving, seconds=60))
            await anyio.wait_all_tasks_blocked()
            assert pool.states()[0].standing == "draining"
            assert pool.capacity == 1
            tasks.start_soon(pool.read, page(3))
        assert [state.name for state in pool.states()] == ["fake-2"]

    run(work)
    assert (leaving.most_in_flight, staying.most_in_flight) == (1, 2)


def test_pages_of_one_that_is_taken_away_are_read_elsewhere() -> None:
    hung, well = FakeEngine(delay=600), FakeEngine()
    pool = ReplicaPool([hung, well])

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.read, page(1))
            await anyio.wait_all_tasks_blocked()
            assert hung.in_flight == 1
            await pool.remove(hung, reason="it hangs")
        assert (hung.in_flight, well.most_in_flight) == (0, 1)
        alone = FakeEngine(delay=600)
        pool.add(alone, "alone")
        await pool.remove(well)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(pool.remove, alone, seconds=0.01, reason="it hangs too"))
            with pytest.raises(EngineUnavailable, match="it hangs too"):
                async with pool.lend(1):
                    await alone.read(page())

    run(work)


def test_a_suspect_gets_pages_only_where_there_is_no_other() -> None:
    first, second = Replica(), Replica()
    pool = ReplicaPool([first, second])

    async def work() -> None:
        pool.suspect(first, "silent")
        assert pool.states()[0].standing == "suspect"
        for number in range(3):
            await pool.read(page(number))
        assert (first.reads, second.reads) == (0, 3)
        await pool.remove(second)
        await pool.read(page())
        pool.trust(first)
        assert pool.states()[0].standing == "ready"

    run(work)
    assert first.reads == 1


def test_one_that_fails_page_after_page_is_taken_out_where_another_fares_better() -> None:
    failing, well = Replica(failure=BadOutput("no")), Replica()
    pool = ReplicaPool([failing, well])

    async def work() -> None:
        while pool.states()[0].standing == "ready":
            await pool.read(page())
        assert "failed on 5 pages in a row" in pool.states()[0].reason
        well.failure = BadOutput("no")
        for _ in range(10):
            with pytest.raises(BadOutput):
                await pool.read(page())
        assert pool.states()[1].standing == "ready"

    run(work)
    assert failing.reads >= 5
