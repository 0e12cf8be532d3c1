"""Encoders apart from decoders: pictures are encoded before a decoder reads the request.

Owns asking an encoder, and the folder through which encoders hand over. Never fails a request: a
decoder that finds nothing in the folder encodes for itself.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import anyio.to_thread
import orjson

from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.engines.pool import ReplicaPool
from moonpress.errors import EngineUnavailable, MoonpressError
from moonpress.serving.replicas.spec import Fleet
from moonpress.telemetry import event

_CONFIG = "--ec-transfer-config"
_FOLDER = "shared_storage_path"
# What vLLM's connector calls the one file that it writes for a picture, in a folder of its own.
_FILE = "encoder_cache.safetensors"
# The decoder looks whether there is something for it a moment before it loads it.
_LEAST_AGE = 60.0
_SWEEP_SECONDS = 15.0
_ENCODE_SECONDS = 120.0


class Encoders:
    """The encoders of a fleet.

    Attributes:
        pool: They come and go here, as decoders do in the engine's own pool.

    Args:
        folder: Through which they hand over.
    """

    def __init__(self, folder: Path) -> None:
        self.pool = ReplicaPool([], name="encoder")
        self._folder = folder
        self._began: dict[object, float] = {}

    @asynccontextmanager
    async def encoded(self, body: bytes) -> AsyncIterator[None]:
        """Have the pictures of a chat request encoded; what was made is kept while the body runs.

        Args:
            body: The request as JSON.
        """
        ticket = object()
        self._began[ticket] = time.time()
        try:
            if self.pool.capacity:
                await self._encode(body)
            yield
        finally:
            del self._began[ticket]

    async def _encode(self, body: bytes) -> None:
        wanted = pictures_of(body)
        if wanted is None:
            return
        try:
            with anyio.fail_after(_ENCODE_SECONDS):
                async with self.pool.lend(len(body)) as encoder:
                    if isinstance(encoder, ChandraReplica):
                        await _ask(encoder, wanted)
        except (MoonpressError, TimeoutError) as error:
            event("not_encoded_apart", reason=str(error) or type(error).__name__)

    async def sweep(self) -> None:
        """Take away what no request needs any more, until cancelled; all of it at the end."""
        await anyio.to_thread.run_sync(clear, self._folder, float("inf"))
        try:
            while True:
                await anyio.sleep(_SWEEP_SECONDS)
                oldest = min(self._began.values(), default=float("inf"))
                before = min(oldest, time.time()) - _LEAST_AGE
                await anyio.to_thread.run_sync(clear, self._folder, before)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(clear, self._folder, float("inf"))


async def _ask(encoder: ChandraReplica, wanted: bytes) -> None:
    client = encoder.client
    try:
        async with client.session().post(
            f"{client.address.base}/chat/completions", data=wanted, allow_redirects=False
        ) as answer:
            said = await answer.read()
    except (aiohttp.ClientError, OSError) as error:
        cause = str(error) or type(error).__name__
        raise EngineUnavailable(f"{client.address.base}: {cause}", hint="") from error
    client.hear()
    if answer.status != 200:
        words = said[:200].decode("utf-8", "replace")
        event("not_encoded_apart", reason=f"status {answer.status}", words=words)


def pictures_of(body: bytes) -> bytes | None:
    """A request for an encoder: the pictures of a chat request and nothing else.

    Returns:
        JSON; ``None`` where there is no picture, or this is no chat request.
    """
    try:
        request: dict[str, Any] = orjson.loads(body)
        parts = [
            part
            for message in request["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part.get("type") == "image_url"
        ]
        model = request.get("model")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if not parts:
        return None
    message = {"role": "user", "content": parts}
    return orjson.dumps({"model": model, "messages": [message], "max_tokens": 1, "stream": False})


def folder_of(fleet: Fleet) -> Path | None:
    """Through which folder the fleet's encoders hand over; ``None`` where none is named."""
    for spec in fleet.replicas:
        for at, argument in enumerate(spec.arguments):
            name, _, value = argument.partition("=")
            if name != _CONFIG:
                continue
            text = value or "".join(spec.arguments[at + 1 : at + 2])
            with contextlib.suppress(ValueError, KeyError, TypeError):
                return Path(orjson.loads(text)["ec_connector_extra_config"][_FOLDER])
    return None


def clear(folder: Path, before: float) -> None:
    """Remove what encoders left in a folder; what they did not write is left alone.

    Args:
        folder: Need not exist.
        before: What changed later, in seconds since 1970, stays.
    """
    try:
        entries = [Path(entry) for entry in os.scandir(folder) if entry.is_dir()]
    except OSError:
        return
    for entry in entries:
        # Decoders make empty folders when they look; other programs may hold or remove them.
        with contextlib.suppress(OSError):
            if entry.stat().st_mtime < before:
                (entry / _FILE).unlink(missing_ok=True)
                entry.rmdir()
