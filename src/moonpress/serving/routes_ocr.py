"""``POST /v1/ocr``: a document in, its text out, in one piece or page by page.

Owns the route. Never reads pages: see `moonpress.serving.service`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio.to_thread
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse

from moonpress.document import Document, Metadata
from moonpress.errors import MoonpressError
from moonpress.pipeline.convert import Quiet
from moonpress.serving.answers import (
    OutputFormat,
    block_answer,
    document_answer,
    error_body,
    page_answer,
)
from moonpress.serving.refusals import READ, STREAMED
from moonpress.serving.requests import OcrRequest
from moonpress.serving.service import Order, Reading, Service
from moonpress.serving.streaming import BlockRead, PageRead, follow
from moonpress.serving.until_gone import run_until_gone
from moonpress.serving.uploads import form_schema, received
from moonpress.telemetry import span

router = APIRouter()


@router.post(
    "/v1/ocr",
    response_model=None,
    responses=READ | STREAMED,
    summary="Read a document",
    openapi_extra=form_schema(OcrRequest),
)
async def ocr(request: Request) -> Response:
    """Read a document: a form with ``file``, or JSON with ``image_url`` or ``file`` in base64."""
    service: Service = request.app.state.service
    async with received(request, OcrRequest, service.fetcher) as (wanted, file):
        data = await anyio.to_thread.run_sync(file.read)
    order = Order(
        data=data,
        name=wanted.name,
        pages=wanted.pages,
        password=wanted.password,
        dpi=wanted.dpi,
        figures=wanted.figures,
    )
    if wanted.stream:
        events = _events(service, order, wanted.output_format)
        return EventSourceResponse(events, ping=15)

    async def read() -> dict[str, Any]:
        async with service.reading(order, Quiet()) as reading:
            with span("output"):
                return await anyio.to_thread.run_sync(
                    document_answer, reading, wanted.output_format
                )

    answer = await run_until_gone(request, read)
    if answer is None:
        # Nobody is there to see it.
        return Response(status_code=499)
    return JSONResponse(answer, 422 if answer["status"] == "failed" else 200)


async def _events(
    service: Service, order: Order, form: OutputFormat
) -> AsyncIterator[dict[str, str]]:
    """Events for blocks while a page is written, for each page, and for the document or an error.

    A page's blocks come before it, in reading order; pages of one document may be mixed.
    """
    alone = Document(order.name, "", (), Metadata(page_count=0, media_type=""))
    told: dict[int, int] = {}

    async def make(reading: Reading) -> dict[str, Any]:
        with span("output"):
            return await anyio.to_thread.run_sync(document_answer, reading, form)

    try:
        async with aclosing(follow(service, order, make)) as all_news:
            async for news in all_news:
                if isinstance(news, BlockRead):
                    told[news.number] = told.get(news.number, 0) + 1
                    yield _event("block", block_answer(news.number, news.block))
                elif isinstance(news, PageRead):
                    page = news.page
                    for block in page.blocks[told.pop(page.number, 0) :]:
                        yield _event("block", block_answer(page.number, block))
                    answer = await anyio.to_thread.run_sync(page_answer, alone, page, form)
                    yield _event("page", answer)
                else:
                    yield _event("document", news.made)
    except MoonpressError as error:
        yield _event("error", error_body(error))


def _event(name: str, body: dict[str, Any]) -> dict[str, str]:
    return {"event": name, "data": orjson.dumps(body).decode()}
