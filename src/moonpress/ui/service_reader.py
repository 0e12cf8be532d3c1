"""Reading through a ``chandra-serve``: its stream of pages, as if an engine were here.

Owns the client's side of ``POST /v1/ocr``. What comes back is cleaned as if anybody had sent it.
Closing the connection, which cancelling does, ends the work at the other side.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import aiohttp
import anyio
import anyio.to_thread
import orjson

from moonpress.document import BBox, Block, BlockKind, Document, Page
from moonpress.document.html import sanitise
from moonpress.errors import BadOutput, EngineUnavailable, MoonpressError
from moonpress.outputs.figures import CROP_NAME
from moonpress.outputs.json import parse
from moonpress.ui.readers import Wanted, Watcher
from moonpress.ui.settings import RemoteService

# A line of the stream holds a whole document with its figures.
_LONGEST_LINE = 1 << 30
_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 120.0


async def read_by_service(service: RemoteService, wanted: Wanted, watcher: Watcher) -> Document:
    """Read pages of a file at the service.

    Raises:
        EngineUnavailable: it does not answer.
        MoonpressError: what it says of the file.
    """
    watcher.started(wanted.name, len(wanted.pages))
    document: Document | None = None
    async for name, body in _events(service, wanted):
        if name == "error":
            raise _error_of(body, wanted.name)
        if name == "block":
            watcher.block_done(body["page"], _block_of(body), 0)
            continue
        if name not in {"page", "document"}:
            continue
        content = await anyio.to_thread.run_sync(_cleaned, body["content"])
        if name == "page":
            for page in content.pages:
                watcher.page_done(page)
            continue
        document = content
        await anyio.to_thread.run_sync(_keep_figures, body.get("figures") or {}, wanted)
    if document is None:
        raise BadOutput("the service ended its answer early", hint="Look at the service's log")
    return document


async def _events(service: RemoteService, wanted: Wanted) -> AsyncIterator[tuple[str, Any]]:
    headers = {} if service.api_key is None else {"Authorization": f"Bearer {service.api_key}"}
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=_CONNECT_SECONDS, sock_read=_SILENCE_SECONDS
    )
    try:
        with wanted.path.open("rb") as file:
            async with (
                aiohttp.ClientSession(
                    timeout=timeout, headers=headers, read_bufsize=1 << 20, max_line_size=1 << 16
                ) as session,
                session.post(f"{service.url.rstrip('/')}/v1/ocr", data=_form(wanted, file)) as got,
            ):
                if got.status != 200:
                    raise _error_of(_json(await got.read()), wanted.name)
                async for event in _parsed(got.content):
                    yield event
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        message = f"the service at {service.url} does not answer ({type(error).__name__})"
        raise EngineUnavailable(message, hint="Is chandra-serve running there?") from error


def _form(wanted: Wanted, file: Any) -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("file", file, filename="document")
    fields = {
        "name": wanted.name,
        "pages": ",".join(map(str, wanted.pages)),
        "password": wanted.password or "",
        "output_format": "json",
        "stream": "true",
        "figures": "true",
    }
    for name, value in fields.items():
        if value:
            form.add_field(name, value)
    return form


async def _parsed(content: aiohttp.StreamReader) -> AsyncIterator[tuple[str, Any]]:
    """Events of a stream: name and body."""
    name, waiting = "", bytearray()
    async for chunk in content.iter_any():
        waiting += chunk
        if len(waiting) > _LONGEST_LINE:
            raise BadOutput("the service sends lines without end", hint="Is it a chandra-serve?")
        if b"\n" not in chunk:
            continue
        for line in _lines(waiting):
            field, _, value = line.partition(b":")
            if field == b"event":
                name = value.strip().decode()
            elif field == b"data":
                yield name, _json(value.strip())


def _lines(waiting: bytearray) -> Iterator[bytes]:
    """Take the whole lines out of what came."""
    end = waiting.rfind(b"\n")
    whole = bytes(waiting[:end])
    del waiting[: end + 1]
    yield from whole.splitlines()


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        message = "what answers at --url is no chandra-serve"
        raise BadOutput(message, hint="Give the address that chandra-serve listens on") from error


def _cleaned(content: Any) -> Document:
    document = parse(orjson.dumps(content))
    return replace(document, pages=tuple(map(_clean_page, document.pages)))


def _block_of(body: dict[str, Any]) -> Block:
    try:
        kind, box = BlockKind(body["kind"]), BBox.ordered(*body["bbox"])
        html = sanitise(str(body["html"]))
        return Block(str(body["id"]), kind, box, html, confidence=body.get("confidence"))
    except (KeyError, TypeError, ValueError) as error:
        hint = "Use the same version of Moonpress at both ends"
        raise BadOutput("the service sends blocks of an unknown form", hint=hint) from error


def _clean_page(page: Page) -> Page:
    blocks = tuple(replace(block, html=sanitise(block.html)) for block in page.blocks)
    return replace(page, blocks=blocks)


def _keep_figures(figures: dict[str, str], wanted: Wanted) -> None:
    for name, data in figures.items():
        # A name from elsewhere must not lead out of the folder.
        if CROP_NAME.fullmatch(name):
            try:
                (wanted.crops / name).write_bytes(base64.b64decode(data, validate=True))
            except binascii.Error:
                continue


def _error_of(body: Any, name: str) -> MoonpressError:
    """The service's error as the one of ours that it is."""
    facts = body.get("error") if isinstance(body, dict) else None
    if not isinstance(facts, dict):
        hint = "Give the address that chandra-serve listens on"
        return BadOutput("what answers at --url is no chandra-serve", hint=hint)
    kind = _kinds().get(str(facts.get("code")), EngineUnavailable)
    hint = str(facts.get("hint") or "")
    # The other side's line names file, remedy and code, which are added again here.
    message = " ".join(str(facts.get("message")).split()).removesuffix(f" [{kind.code}]")
    message = message.removesuffix(f". {hint}").removeprefix(f"{name}: ")
    return kind(message, file=name, hint=hint or None)


def _kinds() -> dict[str, type[MoonpressError]]:
    found: dict[str, type[MoonpressError]] = {}
    left: list[type[MoonpressError]] = [MoonpressError]
    while left:
        kind = left.pop()
        found[kind.code] = kind
        left += kind.__subclasses__()
    return found
