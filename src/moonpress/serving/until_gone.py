"""Work that ends when its client has gone.

Owns watching the connection. Never knows what the work is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from fastapi import Request

from moonpress.errors import root_cause
from moonpress.telemetry import event

_Result = TypeVar("_Result")


async def run_until_gone(
    request: Request, work: Callable[[], Awaitable[_Result]]
) -> _Result | None:
    """Run ``work``; cancel it when the client closes its connection: the engine is then free.

    Args:
        request: Its body must have been read before.
        work: What the client waits for.

    Returns:
        What ``work`` returns; ``None`` when the client has gone.
    """
    result: _Result | None = None

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        event("client_gone", path=request.url.path)
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            result = await work()
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise root_cause(group) from group
    return result
