"""A layout model and a server that do what a script says, for what healthy ones never do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy as np
from aiohttp import web

from moonpress.document import Font, PageImage, PageSize, TextLayer
from moonpress.engines.layout_model import Ending, Sampling, Written

CLEAN = (
    '<div data-bbox="100 100 900 300" data-label="Text"><p>The page says this and that.</p></div>'
)
LOOPING = CLEAN + '<div data-bbox="100 310 900 500" data-label="Text"><p>' + "and so on, " * 400


def page(number: int = 1, *, text: str | None = None, blank: bool = False) -> PageImage:
    """A small page with some ink on it, unless it is to be blank."""
    pixels = np.full((640, 480, 3), 255, dtype=np.uint8)
    if not blank:
        pixels[100:140, 60:400] = 0
    layer = None if text is None else text_layer(text)
    size = PageSize(180.0, 240.0, 480, 640)
    return PageImage(number=number, picture=pixels, size=size, text_layer=layer)


def text_layer(text: str) -> TextLayer:
    """A layer whose characters stand in a row, none on top of another."""
    count = len(text)
    boxes = np.zeros((count, 4), dtype=np.float32)
    boxes[:, 0] = np.arange(count) / count
    boxes[:, 2] = boxes[:, 0] + 0.9 / count
    boxes[:, 1], boxes[:, 3] = 0.1, 0.12
    return TextLayer(
        text=text,
        boxes=boxes,
        sizes=np.full(count, 10, dtype=np.float32),
        fonts=(Font("Serif"),),
        font_ids=np.zeros(count, dtype=np.int16),
        angles=np.zeros(count, dtype=np.int16),
        invisible=np.zeros(count, dtype=np.bool_),
    )


@dataclass(slots=True)
class ScriptedModel:
    """Writes the next of ``replies`` at each try, a few characters at a time.

    A reply is a text that ends well, a text with how it ends (``None``: never), or an exception.
    """

    replies: Sequence[str | tuple[str, Ending | None] | Exception]
    samplings: list[Sampling] = field(default_factory=list)
    written: int = 0
    stopped: int = 0
    name: str = "scripted"
    capacity: int = 2
    scale: float = 1000.0

    async def prepare(self) -> None:
        return

    async def write(
        self, _image: PageImage, sampling: Sampling
    ) -> AsyncGenerator[Written | Ending, None]:
        reply = self.replies[len(self.samplings)]
        self.samplings.append(sampling)
        if isinstance(reply, Exception):
            raise reply
        text, ending = (reply, Ending(True, 100, 50)) if isinstance(reply, str) else reply
        ended = False
        try:
            for start in range(0, len(text), 4):
                await anyio.lowlevel.checkpoint()
                self.written += 1
                piece = text[start : start + 4]
                yield Written(piece, 1, (len(piece),), (-0.1,))
            if ending is None:
                await anyio.sleep_forever()
            else:
                ended = True
                yield ending
        except GeneratorExit:
            self.stopped += 0 if ended else 1
            raise

    async def aclose(self) -> None:
        return


Handler = Callable[[web.Request], Any]


@dataclass(slots=True)
class ScriptedServer:
    """An OpenAI API whose answers a test writes.

    Attributes:
        chat: Answers a chat request.
        models: Answers the question for models.
        healthy: What ``/health`` says.
        requests: Bodies of all chat requests.
    """

    chat: Handler | None = None
    models: Handler | None = None
    healthy: bool = True
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    dropped: int = 0

    async def on_chat(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        try:
            return await (self.chat or streaming(CLEAN))(request)  # type: ignore[no-any-return]
        except (ConnectionResetError, asyncio.CancelledError):
            self.dropped += 1
            raise

    async def on_models(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if self.models is not None:
            return await self.models(request)  # type: ignore[no-any-return]
        return web.json_response(
            {"data": [{"id": "chandra", "root": "datalab-to/chandra-ocr-2", "max_model_len": 8192}]}
        )

    async def on_health(self, _request: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy else 503)


@asynccontextmanager
async def running(server: ScriptedServer, port: int = 0) -> AsyncIterator[ScriptedServer]:
    """Serve on ``port``, or on a free one."""
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", server.on_chat)
    app.router.add_get("/v1/models", server.on_models)
    app.router.add_get("/health", server.on_health)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


def event(**choice: Any) -> bytes:
    """One event with one choice."""
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def streaming(text: str, *, finish: str | None = "stop", tail: bytes | None = None) -> Handler:
    """Streams ``text`` in small pieces; ``finish`` is ``None`` for a stream that is cut."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for start in range(0, len(text), 6):
            piece = text[start : start + 6]
            scores = {"content": [{"token": piece, "logprob": -0.25}]}
            await response.write(event(delta={"content": piece}, logprobs=scores))
        if finish is not None:
            await response.write(event(delta={}, finish_reason=finish))
            usage = {"prompt_tokens": 900, "completion_tokens": len(text) // 6}
            await response.write(
                f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode()
            )
            await response.write(b"data: [DONE]\n\n")
        if tail is not None:
            await response.write(tail)
        return response

    return answer


def refusing(status: int, body: Any, **headers: str) -> Handler:
    """Answers with a status and a body, JSON unless it is text."""

    async def answer(request: web.Request) -> web.Response:
        if isinstance(body, str):
            return web.Response(status=status, text=body, content_type="text/html", headers=headers)
        return web.json_response(body, status=status, headers=headers)

    return answer


async def hanging(request: web.Request) -> web.Response:
    """Never answers."""
    await asyncio.sleep(3600)
    return web.Response()
