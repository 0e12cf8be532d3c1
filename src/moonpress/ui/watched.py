"""An engine that tells when it is given a page.

Owns that one word more than the pipeline's observer has, for bars that move. Never reads itself.
"""

from __future__ import annotations

from collections.abc import Callable

from moonpress.document import PageImage, PageReading, PictureEncoder
from moonpress.engines.base import Engine, picture_encoder, preferred_dpi, prepare


class WatchedEngine:
    """Hands everything on to ``engine``.

    Args:
        engine: Who reads; not closed from here.
        begun: Told the number of each page that is handed to it.
    """

    def __init__(self, engine: Engine, begun: Callable[[int], None]) -> None:
        self._engine = engine
        self._begun = begun

    @property
    def name(self) -> str:
        """Of the engine."""
        return self._engine.name

    @property
    def capacity(self) -> int:
        """Of the engine."""
        return self._engine.capacity

    @property
    def preferred_dpi(self) -> float | None:
        """Of the engine."""
        return preferred_dpi(self._engine)

    @property
    def picture_encoder(self) -> PictureEncoder | None:
        """Of the engine."""
        return picture_encoder(self._engine)

    async def prepare(self) -> None:
        """See `moonpress.engines.base.Preparable`."""
        await prepare(self._engine)

    async def read(self, image: PageImage) -> PageReading:
        """See `Engine`."""
        self._begun(image.number)
        return await self._engine.read(image)

    async def aclose(self) -> None:
        """Nothing: whoever made the engine closes it."""
