"""The queue of a cluster run: what waits, what others hold, and when it is empty for good."""

from __future__ import annotations

import anyio
import pytest

from moonpress.batch.backlog import Backlog
from moonpress.batch.shards import Shard
from moonpress.batch.stop import Stop

pytestmark = pytest.mark.anyio


async def _take(backlog: Backlog) -> str | None:
    with anyio.fail_after(5):
        shard = await backlog.take()
    return None if shard is None else shard.key


async def test_a_second_run_sees_past_what_the_first_holds() -> None:
    backlog = Backlog(Stop(), held_seconds=60)
    found = []

    async def find() -> None:
        for number in range(40):
            await backlog.put(Shard(str(number), ()))
        await backlog.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(find)
        for number in range(40):
            with anyio.fail_after(5):
                shard = await backlog.take()
            assert shard is not None
            found.append(shard.key)
            # Another run has the first thirty.
            await (backlog.set_aside(shard) if number < 30 else backlog.finish())

    assert found == [str(number) for number in range(40)]


async def test_what_is_held_comes_again_and_again_until_it_is_finished() -> None:
    backlog = Backlog(Stop(), held_seconds=0.01)
    shard = Shard("held", ())
    await backlog.put(shard)
    await backlog.close()
    for _ in range(3):
        assert await _take(backlog) == "held"
        await backlog.set_aside(shard)
    assert await _take(backlog) == "held"
    await backlog.finish()
    assert await _take(backlog) is None
    with anyio.fail_after(5):
        await backlog.until_finished()


async def test_what_was_given_back_comes_before_all_others() -> None:
    backlog = Backlog(Stop())
    for key in "abc":
        await backlog.put(Shard(key, ()))
    await backlog.close()
    assert await _take(backlog) == "a"
    await backlog.give_back(Shard("a", ()))
    assert [await _take(backlog) for _ in "abc"] == ["a", "b", "c"]


async def test_a_stop_ends_the_waiting_for_what_others_hold() -> None:
    stop = Stop()
    backlog = Backlog(stop, held_seconds=60)
    await backlog.put(Shard("held", ()))
    await backlog.close()
    assert await _take(backlog) == "held"
    await backlog.set_aside(Shard("held", ()))

    async def end() -> None:
        stop.request()
        await backlog.wake()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end)
        assert await _take(backlog) is None
    with anyio.fail_after(5):
        await backlog.until_finished()
