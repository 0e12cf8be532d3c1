"""Where a run gets the pictures of its pages from.

Owns the seam, and its real side: fetch the file, open it in a render worker, give the worker back.
Never reads a page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from moonpress.batch.meter import Busy
from moonpress.document import PageImage
from moonpress.pipeline.render import RenderLimits, open_in_pool
from moonpress.pipeline.render_pool import RenderPool
from moonpress.sources.base import RenderRequest, SourceInfo
from moonpress.sources.inputs.address import comes_over_network
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.opening import Opener


class OpenDocument(Protocol):
    """A document whose pages can be drawn."""

    @property
    def info(self) -> SourceInfo:
        """What is known of the file."""
        ...

    async def page(self, number: int, request: RenderRequest) -> PageImage:
        """Draw one page, counted from 1.

        Raises:
            PageError: it cannot be drawn.
        """
        ...


class PageSource(Protocol):
    """Opens documents; used by as many tasks at once as there are places."""

    @property
    def places(self) -> int:
        """How many documents may be open at once."""
        ...

    def open(self, item: InputItem, fetching: Busy) -> AbstractAsyncContextManager[OpenDocument]:
        """Open one document for a while.

        Args:
            item: Which.
            fetching: Counts the time in which it came over the network.

        Raises:
            InputError: it cannot be opened at all.
        """
        ...


class RenderedPages:
    """Documents drawn by worker processes that are kept between documents.

    Args:
        places: Worker processes at most.
        limits: What each document may cost.
        opener: Fetches what is not a file on this machine.
        password: For documents that bring none of their own.
    """

    def __init__(
        self, *, places: int, limits: RenderLimits, opener: Opener, password: str | None
    ) -> None:
        self.places = places
        self._pool = RenderPool(limits, idle=places)
        self._opener = opener
        self._password = password

    @asynccontextmanager
    async def open(self, item: InputItem, fetching: Busy) -> AsyncIterator[OpenDocument]:
        """Open one document; see `PageSource.open`."""
        password = item.password or self._password
        async with (
            _in_thread(self._opener.opened(item), fetching, item) as path,
            open_in_pool(self._pool, path, name=item.name, password=password) as document,
        ):
            yield document

    async def aclose(self) -> None:
        """End the worker processes."""
        await self._pool.aclose()


@asynccontextmanager
async def _in_thread(
    manager: AbstractContextManager[Path], fetching: Busy, item: InputItem
) -> AsyncIterator[Path]:
    """A blocking context manager, entered and left in threads."""
    with fetching.working() if comes_over_network(item.uri) else nullcontext():
        path = await anyio.to_thread.run_sync(manager.__enter__)
    try:
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(manager.__exit__, None, None, None)
