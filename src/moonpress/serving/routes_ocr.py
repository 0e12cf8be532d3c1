"""``POST /v1/ocr``: a document in, its text out, in one piece or page by page.

Owns the route. Never reads pages: see `moonpress.serving.service`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio.to_thread
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from sse_starlette import EventSourceResponse
from starlette.datastructures import UploadFile

from moonpress.document import Document, Metadata
from moonpress.errors import MoonpressError, UsageError
from moonpress.pipeline.convert import Quiet
from moonpress.serving.answers import (
    OutputFormat,
    block_answer,
    document_answer,
    error_body,
    page_answer,
)
from moonpress.serving.requests import OcrRequest
from moonpress.serving.service import Order, Reading, Service
from moonpress.serving.streaming import BlockRead, PageRead, follow
from moonpress.serving.until_gone import run_until_gone
from moonpress.telemetry import span

router = APIRouter()
_FLAGS = {"stream", "figures"}


@router.post("/v1/ocr", response_model=None, summary="Read a document")
async def ocr(request: Request) -> Response:
    """Read a document: a form with ``file``, or JSON with ``image_url`` or ``file`` in base64."""
    service: Service = request.app.state.service
    wanted, data = await _wanted(request, service)
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


async def _wanted(request: Request, service: Service) -> tuple[OcrRequest, bytes]:
    """What a request asks for, and the file.

    Raises:
        UsageError: neither a form nor JSON of ours, or no file.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _from_form(request)
    if kind not in {"application/json", ""}:
        raise UsageError(f"the body is {kind}", hint="Send multipart/form-data or application/json")
    wanted = _validated(await request.body())
    if (wanted.image_url is None) == (wanted.file is None):
        raise UsageError("there must be one of image_url and file", hint="Send one of them")
    if wanted.image_url is not None:
        return wanted, await service.fetcher.fetch(wanted.image_url)
    try:
        return wanted, base64.b64decode(wanted.file or "", validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError("file is no base64", hint="Encode the file's bytes") from error


async def _from_form(request: Request) -> tuple[OcrRequest, bytes]:
    async with request.form(max_files=1, max_fields=20) as form:
        upload = form.get("file")
        if not isinstance(upload, UploadFile):
            raise UsageError("the form has no file", hint="Send it as the field file")
        fields: dict[str, Any] = {
            name: value.lower() in {"1", "true", "yes", "on"} if name in _FLAGS else value
            for name, value in form.items()
            if isinstance(value, str) and value
        }
        fields.setdefault("name", (upload.filename or "document")[-255:])
        return _validated(orjson.dumps(fields)), await upload.read()


def _validated(body: bytes) -> OcrRequest:
    try:
        return OcrRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the body"
        raise UsageError(f"{place}: {first['msg']}", hint="See /docs") from error


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
