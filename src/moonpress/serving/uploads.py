"""The document that a request brings: as a form, as JSON in base64, or by its address.

Owns telling these apart. Never reads a document, and never uses a client's name as a path.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import anyio.to_thread
import orjson
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from moonpress.errors import UsageError
from moonpress.serving.fetch import Fetcher
from moonpress.serving.requests import DocumentRequest

_Body = TypeVar("_Body", bound=DocumentRequest)
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


class Upload(NamedTuple, Generic[_Body]):
    """What a request asks for, and its file, open for reading at its beginning."""

    wanted: _Body
    file: BinaryIO


@asynccontextmanager
async def received(
    request: Request, kind: type[_Body], fetcher: Fetcher
) -> AsyncIterator[Upload[_Body]]:
    """What a request asks for; large forms lie on the disk while the body runs.

    Raises:
        UsageError: neither a form nor JSON of ours, or no file.
        InputError: what an ``image_url`` leads to cannot be had.
    """
    form = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if form == "multipart/form-data":
        async with request.form(max_files=1, max_fields=20) as fields:
            upload = fields.get("file")
            if not isinstance(upload, UploadFile):
                raise UsageError("the form has no file", hint="Send it as the field file")
            texts = {k: v for k, v in fields.items() if isinstance(v, str) and v}
            yield Upload(_from_form(kind, texts, upload.filename), upload.file)
        return
    if form not in {"application/json", ""}:
        raise UsageError(f"the body is {form}", hint="Send multipart/form-data or application/json")
    wanted = await anyio.to_thread.run_sync(_validated, kind, await request.body())
    yield Upload(wanted, BytesIO(await _bytes_of(wanted, fetcher)))


def _from_form(kind: type[_Body], texts: dict[str, str], filename: str | None) -> _Body:
    fields: dict[str, Any] = dict(texts)
    for name, value in texts.items():
        if name in kind.flags() and value.lower() in _TRUE | _FALSE:
            fields[name] = value.lower() in _TRUE
    fields.setdefault("name", (filename or "document")[-255:])
    return _validated(kind, orjson.dumps(fields))


async def _bytes_of(wanted: DocumentRequest, fetcher: Fetcher) -> bytes:
    if (wanted.image_url is None) == (wanted.file is None):
        raise UsageError("there must be one of image_url and file", hint="Send one of them")
    if wanted.image_url is not None:
        return await fetcher.fetch(wanted.image_url)
    try:
        return await anyio.to_thread.run_sync(_decoded, wanted.file or "")
    except (binascii.Error, ValueError) as error:
        raise UsageError("file is no base64", hint="Encode the file's bytes") from error


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _validated(kind: type[_Body], body: bytes) -> _Body:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise invalid(error) from error


def invalid(error: ValidationError) -> UsageError:
    """What is wrong with a body, repeating nothing of it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the body"
    return UsageError(f"{place}: {first['msg']}", hint="See /docs")


def form_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The request body for OpenAPI: a form with the file, or JSON.

    Args:
        kind: Model of the JSON body.
    """
    schema = kind.model_json_schema()
    fields = {k: v for k, v in schema["properties"].items() if k not in {"file", "image_url"}}
    file = {"type": "string", "format": "binary", "description": "A PDF or a picture"}
    form = {
        "type": "object",
        "properties": {"file": file, **fields},
        "required": ["file"],
        "additionalProperties": False,
    }
    content = {
        "multipart/form-data": {"schema": form},
        "application/json": {"schema": schema},
    }
    return {"requestBody": {"required": True, "content": content}}
