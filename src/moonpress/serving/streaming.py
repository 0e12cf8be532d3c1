"""A document while it is being read: its blocks and pages as they come, then its end.

Owns the way from the pipeline's observer to the route that waits for news. Never forms an answer.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from moonpress.document import Block, Page
from moonpress.errors import root_cause
from moonpress.serving.service import Order, Reading, Service

_End = TypeVar("_End")


@dataclass(frozen=True, slots=True)
class BlockRead:
    """A block is certain.

    Attributes:
        number: Of its page.
        block: It, as it will be in its page.
        tokens: Written for the page so far.
    """

    number: int
    block: Block
    tokens: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page is done, well or not."""

    page: Page


@dataclass(frozen=True, slots=True)
class Ended(Generic[_End]):
    """All pages are done, and this was made of them."""

    made: _End


News: TypeAlias = BlockRead | PageRead


@dataclass(slots=True)
class _HandOn:
    """Hands on what is read.

    Attributes:
        send: Where it goes; it never waits, since what a request may hold is bounded.
    """

    send: MemoryObjectSendStream[News]

    def started(self, _source: str, _page_count: int) -> None:
        """Nothing to tell."""

    def block_done(self, number: int, block: Block, tokens: int) -> None:
        """Hand a block on."""
        self.send.send_nowait(BlockRead(number, block, tokens))

    def page_done(self, page: Page) -> None:
        """Hand a page on."""
        self.send.send_nowait(PageRead(page))


async def follow(
    service: Service, order: Order, make: Callable[[Reading], Awaitable[_End]]
) -> AsyncGenerator[News | Ended[_End], None]:
    """Read a document and tell of it while it is read; closing the generator stops the reading.

    Args:
        service: Who reads.
        order: What is wanted.
        make: Makes something of the whole document, whose figures are gone afterwards.

    Raises:
        MoonpressError: as `Service.reading`; what was told before stays true.
    """
    send, receive = anyio.create_memory_object_stream[News](math.inf)
    made: list[_End] = []

    async def read() -> None:
        with send:
            async with service.reading(order, _HandOn(send)) as reading:
                made.append(await make(reading))

    try:
        async with anyio.create_task_group() as tasks, receive:
            tasks.start_soon(read)
            async for news in receive:
                yield news
    except BaseExceptionGroup as group:
        raise root_cause(group) from group
    yield Ended(made[0])
