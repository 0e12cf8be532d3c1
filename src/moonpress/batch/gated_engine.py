"""An engine that several runs share: all of them together have no more pages in it than it wants.

Owns the gate. Never closes the engine on behalf of one of the runs, and never reads.
"""

from __future__ import annotations

import anyio

from moonpress.document import PageImage, PageReading, PictureEncoder
from moonpress.engines.base import Engine, picture_encoder, preferred_dpi, prepare


class GatedEngine:
    """Passes pages on, as many at once as the engine has places.

    Args:
        engine: Prepared.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._gate = anyio.Semaphore(engine.capacity)

    @property
    def name(self) -> str:
        """The engine's."""
        return self._engine.name

    @property
    def capacity(self) -> int:
        """The engine's: each run alone may fill it, while another begins or ends."""
        return self._engine.capacity

    @property
    def preferred_dpi(self) -> float | None:
        """The engine's."""
        return preferred_dpi(self._engine)

    @property
    def picture_encoder(self) -> PictureEncoder | None:
        """The engine's."""
        return picture_encoder(self._engine)

    async def prepare(self) -> None:
        """See whether the engine can read."""
        await prepare(self._engine)

    async def read(self, image: PageImage) -> PageReading:
        """Read one page when there is a place."""
        async with self._gate:
            return await self._engine.read(image)

    async def aclose(self) -> None:
        """Close the engine."""
        await self._engine.aclose()
