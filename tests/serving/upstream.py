"""Model servers that follow a script, and a real ``chandra-serve`` in front of them."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from PIL import Image

from tests.engines.scripted import Handler, ScriptedServer, event, page, running


@contextmanager
def model_server(chat: Handler | None = None) -> Iterator[ScriptedServer]:
    """A model server in a thread of its own."""
    server = ScriptedServer(chat=chat)
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with running(server):
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(30)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(30)
        loop.close()


def inked() -> bytes:
    """A picture of a page that is not blank, as PNG."""
    buffer = io.BytesIO()
    Image.fromarray(page().pixels).save(buffer, "PNG")
    return buffer.getvalue()


def page_request(picture: bytes, **more: Any) -> dict[str, Any]:
    """The body of a chat request for one page."""
    url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}]
    return {"model": "chandra", "messages": [{"role": "user", "content": content}], **more}


def stepwise(pieces: list[str], go: list[threading.Event]) -> Handler:
    """Writes a piece whenever the next event is set, then ends well."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece, now in zip(pieces, go, strict=True):
            # In short waits, because a thread that waits cannot be cancelled.
            while not await asyncio.to_thread(now.wait, 0.2):
                pass
            await response.write(event(delta={"content": piece}))
        await response.write(event(delta={}, finish_reason="stop"))
        usage = b'data: {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 7}}'
        await response.write(usage + b"\n\ndata: [DONE]\n\n")
        return response

    return answer
