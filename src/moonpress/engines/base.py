"""The seam between pages and whoever reads them.

Owns the `Engine` protocol. Never starts or chooses one: see `moonpress.engines.registry`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from moonpress.document import PageImage, PageReading, PictureEncoder


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


@runtime_checkable
class Preparable(Protocol):
    """An engine that can tell beforehand whether it can read at all."""

    async def prepare(self) -> None:
        """Find out; may be called again, to look whether it still can.

        The engine's name, capacity and preferred resolution hold from then on.

        Raises:
            EngineUnavailable: it cannot, in one line.
            UsageError: what it was told makes no sense.
        """
        ...


async def prepare(engine: Engine) -> None:
    """See whether an engine can read; engines that cannot tell are taken to be able to."""
    if isinstance(engine, Preparable):
        await engine.prepare()


def preferred_dpi(engine: Engine) -> float | None:
    """Resolution at which an engine wants PDF pages drawn; ``None`` when it does not care."""
    dpi = getattr(engine, "preferred_dpi", None)
    return dpi if isinstance(dpi, (int, float)) else None


def picture_encoder(engine: Engine) -> PictureEncoder | None:
    """What an engine wants done with pictures where they are drawn; ``None`` for nothing."""
    encoder = getattr(engine, "picture_encoder", None)
    return encoder if isinstance(encoder, PictureEncoder) else None
