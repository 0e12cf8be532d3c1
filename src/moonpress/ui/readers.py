"""Who reads papers: engines of this machine, or a ``chandra-serve``.

Owns opening each engine once and closing all. Never keeps results.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from moonpress.document import Document
from moonpress.engines.base import Engine
from moonpress.engines.registry import create_engine, engine_names
from moonpress.errors import UnknownName
from moonpress.outputs.figures import FigureCrops
from moonpress.pipeline.convert import BlockObserver, ConvertSettings, convert_document
from moonpress.pipeline.render import RenderPool
from moonpress.ui.settings import SERVICE_ENGINE, UiSettings
from moonpress.ui.watched import WatchedEngine


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read.

    Attributes:
        path: The file.
        name: What the person calls it.
        pages: Page numbers.
        password: Of an encrypted PDF.
        crops: Existing folder for pictures of figures.
    """

    path: Path
    name: str
    pages: tuple[int, ...]
    password: str | None
    crops: Path


class Watcher(BlockObserver, Protocol):
    """Who watches a reading."""

    def page_begun(self, number: int) -> None:
        """Somebody has begun to read a page."""
        ...


class Readers:
    """Everybody who can read here.

    Args:
        settings: Of this start.
        pool: Render workers.
    """

    def __init__(self, settings: UiSettings, pool: RenderPool) -> None:
        self._settings = settings
        self._pool = pool
        self._engines: dict[str, Engine] = {}
        self._lock = anyio.Lock()

    def names(self) -> tuple[str, ...]:
        """Of all that may be chosen, the usual one first."""
        service = () if self._settings.service is None else (SERVICE_ENGINE,)
        return tuple(dict.fromkeys((self._settings.engine, *service, *engine_names())))

    async def read(self, engine: str, wanted: Wanted, watcher: Watcher) -> Document:
        """Read pages; cancelling ends the work at once.

        Raises:
            UnknownName: nobody is called so.
            InputError: the file cannot be read at all.
            EngineUnavailable: the engine cannot read now.
        """
        if engine not in self.names():
            raise UnknownName(
                f"no engine is called {engine!r}", hint=f"Choose among {', '.join(self.names())}"
            )
        if engine == SERVICE_ENGINE and self._settings.service is not None:
            from moonpress.ui.service_reader import read_by_service

            return await read_by_service(self._settings.service, wanted, watcher)
        return await convert_document(
            wanted.path,
            name=wanted.name,
            engine=WatchedEngine(await self._opened(engine), watcher.page_begun),
            settings=ConvertSettings(
                pages=",".join(map(str, wanted.pages)), password=wanted.password
            ),
            observer=watcher,
            crops=FigureCrops(wanted.crops),
            pool=self._pool,
        )

    async def _opened(self, name: str) -> Engine:
        async with self._lock:
            if name not in self._engines:
                # Finding and importing one can take a second.
                self._engines[name] = await anyio.to_thread.run_sync(
                    create_engine, name, self._settings.options
                )
            return self._engines[name]

    async def aclose(self) -> None:
        """Close every engine that was opened."""
        while self._engines:
            await self._engines.popitem()[1].aclose()
