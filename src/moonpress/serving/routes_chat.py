"""``POST /v1/chat/completions``: any OpenAI client sends a page and gets Markdown.

Owns the route. Never reads pages: see `moonpress.serving.service`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.to_thread
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse

from moonpress.document import Document, PageStatus
from moonpress.errors import (
    BadOutput,
    MoonpressError,
    UsageError,
    root_cause,
)
from moonpress.pipeline.convert import Quiet
from moonpress.serving.answers import OutputFormat, content_of, error_body, usage_of
from moonpress.serving.requests import ChatRequest
from moonpress.serving.service import Order, Service
from moonpress.serving.until_gone import run_until_gone

router = APIRouter()


@router.post("/v1/chat/completions", response_model=None, summary="Read a page, as a chat")
async def chat(request: Request, wanted: ChatRequest) -> Response:
    """Read the page of a chat; the words beside it are ignored."""
    service: Service = request.app.state.service
    urls = wanted.image_urls()
    if len(urls) != 1:
        raise UsageError(
            f"the messages hold {len(urls)} pages", hint="Send one image_url in one request"
        )
    order = Order(data=await service.fetcher.fetch(urls[0]), name="page", pages="1")
    head = {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "created": int(time.time()),
        "model": wanted.model or service.engine.name,
    }
    if wanted.stream:
        usage = wanted.stream_options is not None and wanted.stream_options.include_usage
        pieces = _pieces(service, order, wanted.output_format, head, usage=usage)
        return EventSourceResponse(pieces, ping=15, sep="\n")

    async def read() -> dict[str, Any]:
        async with service.reading(order, Quiet()) as reading:
            return await anyio.to_thread.run_sync(
                _whole, reading.document, wanted.output_format, head
            )

    answer = await run_until_gone(request, read)
    return Response(status_code=499) if answer is None else JSONResponse(answer)


def _whole(document: Document, form: OutputFormat, head: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": _text(document, form)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(document)}
    return {
        **head,
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage_of(document.pages),
    }


async def _pieces(
    service: Service,
    order: Order,
    form: OutputFormat,
    head: dict[str, Any],
    *,
    usage: bool,
) -> AsyncIterator[dict[str, str]]:
    """The page block by block, then the end; an error ends the stream without ``[DONE]``."""

    def chunk(delta: dict[str, Any], finish: str | None, **more: Any) -> dict[str, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        body = {**head, "object": "chat.completion.chunk", "choices": [choice], **more}
        return {"data": orjson.dumps(body).decode()}

    yield chunk({"role": "assistant", "content": ""}, None)
    try:
        async with service.reading(order, Quiet()) as reading:
            document = reading.document
            texts = await anyio.to_thread.run_sync(_by_block, document, form)
    except (MoonpressError, BaseExceptionGroup) as error:
        cause = root_cause(error)
        if not isinstance(cause, MoonpressError):
            raise
        yield {"data": orjson.dumps(error_body(cause)).decode()}
        return
    counted = usage_of(document.pages)
    for text in texts:
        yield chunk({"content": text}, None, usage=counted if usage else None)
    yield chunk({}, _finish(document))
    if usage:
        last = {**head, "object": "chat.completion.chunk", "choices": [], "usage": counted}
        yield {"data": orjson.dumps(last).decode()}
    yield {"data": "[DONE]"}


def _text(document: Document, form: OutputFormat) -> str:
    """The page as text.

    Raises:
        BadOutput: it could not be read.
    """
    page = document.pages[0]
    if page.status is PageStatus.FAILED:
        reason = page.problems[-1].message if page.problems else "no reason given"
        raise BadOutput(f"the page could not be read: {reason}")
    content = content_of(document, form, {})
    return content if isinstance(content, str) else orjson.dumps(content).decode()


def _by_block(document: Document, form: OutputFormat) -> list[str]:
    """The text in pieces that are each finished; together they are the whole."""
    text = _text(document, form)
    if form not in {"markdown", "text", "layout"}:
        return [text]
    parts = text.split("\n\n")
    return [f"{part}\n\n" for part in parts[:-1]] + parts[-1:]


def _finish(document: Document) -> str:
    """``length`` tells a client of the OpenAI API that the end may be missing."""
    return "length" if document.pages[0].status is PageStatus.PARTIAL else "stop"
