"""The seam between pages and whoever reads them.

Owns the `Engine` protocol. Never starts or chooses one: see `moonpress.engines.registry`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from moonpress.document import PageImage, PageReading


@runtime_checkable
class Engine(Protocol):
    """Reads pages. Wrappers (pools, retries, guards) are engines too."""

    @property
    def name(self) -> str:
        """Short stable name, as in ``--engine``."""
        ...

    @property
    def capacity(self) -> int:
        """How many pages the engine wants in flight to be fully used."""
        ...

    async def read(self, image: PageImage) -> PageReading:
        """Read one page. Cancelling stops the work at once.

        Raises:
            EngineUnavailable: not there now; another replica, or a later try, may do it.
            EngineRejected: this page will never be accepted.
            BadOutput: nonsense came back; other sampling may help.
        """
        ...

    async def aclose(self) -> None:
        """Free processes, connections and memory."""
        ...
