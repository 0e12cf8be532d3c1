"""``POST /v1/chat/completions``: any OpenAI client sends a page and gets Markdown.

Owns the route. Never reads pages: see `moonpress.serving.service`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast, get_args

import anyio.to_thread
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse

from moonpress.document import Document, PageStatus
from moonpress.engines.chandra.client import OUTPUT_HEADER
from moonpress.errors import BadOutput, MoonpressError, UnknownName, UsageError
from moonpress.pipeline.convert import Quiet
from moonpress.serving.answers import (
    OutputFormat,
    content_of,
    error_body,
    usage_of,
    usage_of_tokens,
)
from moonpress.serving.metrics import Metrics
from moonpress.serving.pieces import Pieces, pieces_of
from moonpress.serving.refusals import READ, STREAMED
from moonpress.serving.requests import ChatRequest, StreamOptions
from moonpress.serving.service import Order, Reading, Service
from moonpress.serving.streaming import BlockRead, Ended, follow
from moonpress.serving.until_gone import run_until_gone
from moonpress.telemetry import span

router = APIRouter()


@router.post(
    "/v1/chat/completions",
    response_model=None,
    responses=READ | STREAMED,
    summary="Read a page, as a chat",
)
async def chat(request: Request, wanted: ChatRequest) -> Response:
    """Read the page of a chat; the words beside it are ignored."""
    service: Service = request.app.state.service
    form = _format_of(request, wanted)
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
        chunks = _Chunks(head, _Usage.of(wanted.stream_options), service.metrics)
        events = _events(service, order, form, chunks)
        return EventSourceResponse(events, ping=15, sep="\n")

    async def read() -> dict[str, Any]:
        async with service.reading(order, Quiet()) as reading:
            with span("output"):
                return await anyio.to_thread.run_sync(_whole, reading.document, form, head)

    answer = await run_until_gone(request, read)
    return Response(status_code=499) if answer is None else JSONResponse(answer)


def _format_of(request: Request, wanted: ChatRequest) -> OutputFormat:
    """The format in the header, which wins, or in the body; ``raw`` does not come this far."""
    name = request.headers.get(OUTPUT_HEADER)
    for known in get_args(OutputFormat):
        if name == known:
            return cast("OutputFormat", name)
    if name is not None:
        names = ", ".join(("raw", *get_args(OutputFormat)))
        raise UnknownName(f"no format is called {name[:40]!r}", hint=f"Choose among {names}")
    return wanted.output_format


def _whole(document: Document, form: OutputFormat, head: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": _text(document, form)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(document)}
    return {
        **head,
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage_of(document.pages),
    }


@dataclass(slots=True)
class _Usage:
    """Which usage a stream tells, and when.

    Attributes:
        last: In the end.
        running: With every piece.
    """

    last: bool
    running: bool

    @classmethod
    def of(cls, options: StreamOptions | None) -> _Usage:
        """What a request asks for; running usage is asked for along with the last, as in vLLM."""
        last = options is not None and options.include_usage
        return cls(last, last and options is not None and options.continuous_usage_stats)

    def so_far(self, tokens: int) -> dict[str, dict[str, int] | None]:
        """Fields of a piece; what the prompt took is not known before the end."""
        if not self.last:
            return {}
        return {"usage": usage_of_tokens(1, 0, tokens) if self.running else None}


class _Chunks:
    """The chunks of one stream.

    Args:
        head: What all have.
        usage: Which is told.
        metrics: Told how long the first piece took.
    """

    def __init__(self, head: dict[str, Any], usage: _Usage, metrics: Metrics) -> None:
        self._head = {**head, "object": "chat.completion.chunk"}
        self._usage = usage
        self._tokens = 0
        self._metrics = metrics
        self._waits_since: float | None = time.perf_counter()

    def piece(self, text: str, tokens: int | None = None) -> dict[str, str]:
        """The chunk of a piece of text."""
        if self._waits_since is not None:
            self._metrics.first_piece(time.perf_counter() - self._waits_since)
            self._waits_since = None
        return self.chunk({"content": text}, tokens=tokens)

    def chunk(
        self, delta: dict[str, Any], finish: str | None = None, tokens: int | None = None
    ) -> dict[str, str]:
        """One chunk, after which so many ``tokens`` were written."""
        self._tokens = self._tokens if tokens is None else tokens
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self._data({"choices": [choice], **self._usage.so_far(self._tokens)})

    def end(self, document: Document) -> Iterator[dict[str, str]]:
        """The chunks after the last piece."""
        counted = usage_of(document.pages)
        yield self.chunk({}, _finish(document), counted["completion_tokens"])
        if self._usage.last:
            yield self._data({"choices": [], "usage": counted})
        yield {"data": "[DONE]"}

    def _data(self, more: dict[str, Any]) -> dict[str, str]:
        return {"data": orjson.dumps({**self._head, **more}).decode()}


async def _events(
    service: Service, order: Order, form: OutputFormat, chunks: _Chunks
) -> AsyncIterator[dict[str, str]]:
    """The page block by block, then the end; an error ends the stream without ``[DONE]``."""
    pieces = pieces_of(form)
    yield chunks.chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(follow(service, order, _document_of)) as all_news:
            async for news in all_news:
                if isinstance(news, BlockRead):
                    text = await anyio.to_thread.run_sync(pieces.block, news.block)
                    if text:
                        yield chunks.piece(text, news.tokens)
                elif isinstance(news, Ended):
                    _check_read(news.made)
                    with span("output"):
                        rest = await anyio.to_thread.run_sync(_rest, pieces, news.made)
                    for text in rest:
                        yield chunks.piece(text)
                    for chunk in chunks.end(news.made):
                        yield chunk
    except MoonpressError as error:
        yield {"data": orjson.dumps(error_body(error)).decode()}


async def _document_of(reading: Reading) -> Document:
    return reading.document


def _rest(pieces: Pieces, document: Document) -> list[str]:
    return [piece for piece in pieces.end(document) if piece]


def _text(document: Document, form: OutputFormat) -> str:
    """The page as text.

    Raises:
        BadOutput: it could not be read.
    """
    _check_read(document)
    content = content_of(document, form, {})
    return content if isinstance(content, str) else orjson.dumps(content).decode()


def _check_read(document: Document) -> None:
    page = document.pages[0]
    if page.status is PageStatus.FAILED:
        reason = page.problems[-1].message if page.problems else "no reason given"
        raise BadOutput(f"the page could not be read: {reason}")


def _finish(document: Document) -> str:
    """``length`` tells a client of the OpenAI API that the end may be missing."""
    return "length" if document.pages[0].status is PageStatus.PARTIAL else "stop"
