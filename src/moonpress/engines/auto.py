"""The engine ``auto``: the best one that is there.

Owns the choice, which is made once, before the first page. Never reads pages itself.
"""

from __future__ import annotations

import anyio

from moonpress.document import PageImage, PageReading, PictureEncoder
from moonpress.engines.base import Engine, picture_encoder, preferred_dpi, prepare
from moonpress.engines.pool import ReplicaPool
from moonpress.engines.registry import EngineOptions, create_engine
from moonpress.errors import EngineUnavailable, MoonpressError
from moonpress.telemetry import event

_SERVER = "vllm"
_EMBEDDED = "embedded"
_LOCAL_HOST, _LOCAL_PORT = "localhost", 8000
_CONNECT_SECONDS = 0.5
_ANSWER_SECONDS = 2.0


class AutoEngine:
    """Reads pages with the best engine that it finds.

    Servers that are configured, else a Chandra server on this machine, else the embedded engine.

    Args:
        options: For whichever engine it is.
    """

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._chosen: Engine | None = None

    @property
    def name(self) -> str:
        """Of the engine that was chosen; ``auto`` before."""
        return "auto" if self._chosen is None else self._chosen.name

    @property
    def capacity(self) -> int:
        """Of the engine that was chosen; 1 before."""
        return 1 if self._chosen is None else self._chosen.capacity

    @property
    def pool(self) -> ReplicaPool | None:
        """Of the engine that was chosen, where it has several servers or may have."""
        pool = getattr(self._chosen, "pool", None)
        return pool if isinstance(pool, ReplicaPool) else None

    @property
    def preferred_dpi(self) -> float | None:
        """Of the engine that was chosen."""
        return None if self._chosen is None else preferred_dpi(self._chosen)

    @property
    def picture_encoder(self) -> PictureEncoder | None:
        """Of the engine that was chosen."""
        return None if self._chosen is None else picture_encoder(self._chosen)

    async def prepare(self) -> None:
        """Choose, and say so.

        Raises:
            EngineUnavailable: a server is configured and cannot be used. Another engine is not
            taken
                for it silently.
        """
        if self._chosen is not None:
            await prepare(self._chosen)
            return
        # What was chosen is closed in the end, whether it can be used or not.
        self._chosen, reason = await self._choose()
        event("engine_chosen", engine=self._chosen.name, reason=reason)
        self._options.announce(f"Reading with {self._chosen.name}: {reason}")

    async def _choose(self) -> tuple[Engine, str]:
        urls = self._options.server.urls
        if urls:
            self._chosen = create_engine(_SERVER, self._options)
            await prepare(self._chosen)
            return self._chosen, ", ".join(urls)
        if await _somebody_listens():
            local, reason = await self._local_server()
            if local is not None:
                return local, reason
        else:
            reason = f"no --url is given and nothing answers on {_LOCAL_HOST}:{_LOCAL_PORT}"
        return create_engine(_EMBEDDED, self._options), reason

    async def _local_server(self) -> tuple[Engine | None, str]:
        """The server on this machine, if it has a Chandra model; else why it is not used."""
        where = f"{_LOCAL_HOST}:{_LOCAL_PORT}"
        try:
            from moonpress.engines.chandra.local import has_chandra

            engine = create_engine(_SERVER, self._options)
        except (ImportError, EngineUnavailable):
            return None, f'what answers on {where} needs pip install "moonpress[vllm]"'
        try:
            with anyio.fail_after(_ANSWER_SECONDS):
                if await has_chandra(self._options.server):
                    await prepare(engine)
                    return engine, f"a Chandra server answers on {where}"
        except (MoonpressError, TimeoutError):
            pass
        await engine.aclose()
        return None, f"what answers on {where} is no Chandra server"

    async def read(self, image: PageImage) -> PageReading:
        """Read one page with the engine that was chosen; raises as that does."""
        if self._chosen is None:
            await self.prepare()
        if self._chosen is None:
            raise EngineUnavailable("no engine could be chosen")
        return await self._chosen.read(image)

    async def aclose(self) -> None:
        """Close the engine that was chosen."""
        if self._chosen is not None:
            await self._chosen.aclose()


def create(options: EngineOptions) -> AutoEngine:
    """Make the engine from a user's options (the entry point's target)."""
    return AutoEngine(options)


async def _somebody_listens() -> bool:
    """Whether anything at all is on the port: asked first, because it costs nothing."""
    with anyio.move_on_after(_CONNECT_SECONDS):
        try:
            stream = await anyio.connect_tcp(_LOCAL_HOST, _LOCAL_PORT)
        except OSError:
            return False
        await stream.aclose()
        return True
    return False
