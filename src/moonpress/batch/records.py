"""Pages on their way into the ledger.

Owns the short wait in which pages gather, so that many share one transaction. Never loses one: who
needs to know that pages are kept calls `flush`.
"""

from __future__ import annotations

import anyio
import anyio.to_thread

from moonpress.batch.entry import PageRecord
from moonpress.batch.ledger import Ledger

_GATHER_SECONDS = 0.25
# While the disk is slow, readers wait here and not in memory.
_MOST_WAITING = 1024


class PageRecords:
    """Keeps pages in the ledger, some at a time.

    Args:
        ledger: Where they go.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[PageRecord] = []
        self._turn = anyio.Lock()

    async def add(self, record: PageRecord) -> None:
        """Take a page; it is kept a quarter of a second later, or at the next `flush`."""
        self._waiting.append(record)
        if len(self._waiting) >= _MOST_WAITING:
            await self.flush()

    async def flush(self) -> None:
        """Return when every page taken so far is kept.

        Raises:
            OutputError: the ledger cannot be written.
        """
        async with self._turn:
            taken, self._waiting = self._waiting, []
            if taken:
                await anyio.to_thread.run_sync(self._ledger.record, taken)

    async def keep_flushing(self) -> None:
        """Flush again and again, until cancelled."""
        while True:
            await anyio.sleep(_GATHER_SECONDS)
            await self.flush()
