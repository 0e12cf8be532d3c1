from __future__ import annotations

import anyio
import pytest

from moonpress.errors import EngineBusy
from moonpress.serving.places import Places


async def hold(places: Places, order: list[int], number: int, end: anyio.Event) -> None:
    async with places.taken():
        order.append(number)
        await end.wait()


def test_places_follow_the_engine() -> None:
    async def work() -> None:
        places, end = Places(1, 10), anyio.Event()
        order: list[int] = []
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(hold, places, order, number, end)
            await anyio.wait_all_tasks_blocked()
            assert (places.working, places.waiting) == (1, 3)
            places.resize(3)
            await anyio.wait_all_tasks_blocked()
            assert (places.working, places.waiting) == (3, 1)
            # Those at work stay.
            places.resize(1)
            await anyio.wait_all_tasks_blocked()
            assert (places.working, places.waiting) == (3, 1)
            end.set()
        assert order == [0, 1, 2, 3]
        assert (places.working, places.waiting) == (0, 0)

    anyio.run(work)


def test_one_too_many_is_told_to_come_back() -> None:
    async def work() -> None:
        places, end = Places(1, 1), anyio.Event()
        async with anyio.create_task_group() as tasks:
            for number in range(2):
                tasks.start_soon(hold, places, [], number, end)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(EngineBusy):
                async with places.taken():
                    pass
            end.set()

    anyio.run(work)


def test_who_gives_up_waiting_leaves_no_gap() -> None:
    async def work() -> None:
        places, end = Places(1, 10), anyio.Event()
        order: list[int] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold, places, order, 0, end)
            await anyio.wait_all_tasks_blocked()
            async with anyio.create_task_group() as leaving:
                leaving.start_soon(hold, places, order, 1, end)
                await anyio.wait_all_tasks_blocked()
                leaving.cancel_scope.cancel()
            assert places.waiting == 0
            async with anyio.create_task_group() as unlucky:
                unlucky.start_soon(hold, places, order, 2, end)
                await anyio.wait_all_tasks_blocked()
                # The place comes in the very moment in which the waiting ends.
                unlucky.cancel_scope.cancel()
                places.resize(2)
            assert places.working == 1
            end.set()
        assert (places.working, places.waiting) == (0, 0)

    anyio.run(work)
