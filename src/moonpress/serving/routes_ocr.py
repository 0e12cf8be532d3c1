"""``POST /v1/ocr``: a document in, its text out, in one piece or page by page.

Owns the route. Never reads pages: see `moonpress.serving.service`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import orjson
from anyio.streams.memory import MemoryObjectSendStream
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from sse_starlette import EventSourceResponse
from starlette.datastructures import UploadFile

from moonpress.document import Document, Metadata, Page
from moonpress.errors import MoonpressError, UsageError, root_cause
from moonpress.pipeline.convert import Quiet
from moonpress.serving.answers import (
    OutputFormat,
    document_answer,
    error_body,
    page_answer,
)
from moonpress.serving.requests import OcrRequest
from moonpress.serving.service import Order, Service
from moonpress.serving.until_gone import run_until_gone

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
            return await anyio.to_thread.run_sync(document_answer, reading, wanted.output_format)

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


@dataclass(slots=True)
class _HandOn:
    """Hands pages on as they are read.

    Attributes:
        send: Where they go; never waits, since the pages of a request are bounded.
    """

    send: MemoryObjectSendStream[Page]

    def started(self, _source: str, _page_count: int) -> None:
        """Nothing to tell."""

    def page_done(self, page: Page) -> None:
        """Hand a page on."""
        self.send.send_nowait(page)


async def _events(
    service: Service, order: Order, form: OutputFormat
) -> AsyncIterator[dict[str, str]]:
    """An event for each page as it is read, then one for the document, or one for an error."""
    send, receive = anyio.create_memory_object_stream[Page](service.limits.pages)
    alone = Document(order.name, "", (), Metadata(page_count=0, media_type=""))
    answer: dict[str, Any] = {}
    failure: MoonpressError | None = None

    async def read() -> None:
        nonlocal answer, failure
        with send:
            try:
                async with service.reading(order, _HandOn(send)) as reading:
                    answer = await anyio.to_thread.run_sync(document_answer, reading, form)
            except (MoonpressError, BaseExceptionGroup) as error:
                cause = root_cause(error)
                if not isinstance(cause, MoonpressError):
                    raise
                failure = cause

    async with anyio.create_task_group() as tasks, receive:
        tasks.start_soon(read)
        async for page in receive:
            yield _event("page", page_answer(alone, page, form))
    if failure is not None:
        yield _event("error", error_body(failure))
        return
    yield _event("document", answer)


def _event(name: str, body: dict[str, Any]) -> dict[str, str]:
    return {"event": name, "data": orjson.dumps(body).decode()}
