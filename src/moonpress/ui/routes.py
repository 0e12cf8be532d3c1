"""What the page's own scripts ask for, beside what Streamlit serves.

Owns addresses, and who may ask: a paper's id is its key, since nobody can guess it, and whatever
changes something must carry a header that pages of other sites cannot send. Never opens a path that
a client names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from moonpress.document import Page
from moonpress.document.rendering import find_output
from moonpress.errors import InputMissing, InputTooLarge, MoonpressError, UsageError
from moonpress.ui.desk import Desk, Paper
from moonpress.ui.differences import differences
from moonpress.ui.editing import editable, rewritten
from moonpress.ui.export import archive, stem_of
from moonpress.ui.pictures import PAGE_WIDTH, THUMBNAIL_WIDTH
from moonpress.ui.reading import Reading, Stage, block_of, edited_page
from moonpress.ui.shown import page_text, reading_html, shown_page

PREFIX = "/desk"
_HEADER = "x-moonpress"
_LONGEST_WAIT = 20.0
_WIDTHS = {"small": THUMBNAIL_WIDTH, "large": PAGE_WIDTH}
_SAFE = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
# What is kept under an id never changes.
_KEEP = {**_SAFE, "Cache-Control": "private, max-age=86400, immutable"}
_FRESH = {**_SAFE, "Cache-Control": "no-store"}

_Answer = Callable[[Desk, Request], Awaitable[Response]]


def desk_routes(desk_now: Callable[[], Desk]) -> list[Route]:
    """Routes for a desk that opens when the server starts."""

    def route(path: str, answer: _Answer, method: str) -> Route:
        async def endpoint(request: Request) -> Response:
            if method == "POST" and _HEADER not in request.headers:
                raise UsageError("this is for the page's own scripts only")
            return await answer(desk_now(), request)

        return Route(f"{PREFIX}{path}", endpoint, methods=[method])

    one = "/papers/{paper}"
    return [
        route("/papers", _drop, "POST"),
        route(f"{one}/state", _state, "GET"),
        route(f"{one}/read", _read, "POST"),
        route(f"{one}/cancel", _cancel, "POST"),
        route(f"{one}/pictures/{{number:int}}/{{width}}", _picture, "GET"),
        route(f"{one}/pages/{{number:int}}", _page, "GET"),
        route(f"{one}/pages/{{number:int}}/text/{{form}}", _text, "GET"),
        route(f"{one}/blocks/{{block}}", _block, "GET"),
        route(f"{one}/blocks/{{block}}", _edit, "POST"),
        route(f"{one}/crops/{{engine}}/{{block}}", _crop, "GET"),
        route(f"{one}/differences/{{number:int}}", _differences, "GET"),
        route(f"{one}/files/{{form}}", _file, "GET"),
    ]


async def error_answer(_request: Request, error: Exception) -> Response:
    """The answer to what went wrong: the one line."""
    if not isinstance(error, MoonpressError):
        raise error
    return JSONResponse({"error": str(error), "code": error.code}, error.http_status, _FRESH)


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json", headers=_FRESH)


async def _body(request: Request, *, most: int) -> bytes:
    """The body, as long as it is no longer than ``most`` bytes.

    Raises:
        InputTooLarge: it is longer.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise InputTooLarge(f"it is larger than {most >> 20} MiB")
    return bytes(data)


async def _object(request: Request) -> dict[str, Any]:
    try:
        found = orjson.loads(await _body(request, most=4 << 20))
    except orjson.JSONDecodeError as error:
        raise UsageError("the body is no JSON") from error
    if not isinstance(found, dict):
        raise UsageError("the body is no object")
    return found


async def _paper(desk: Desk, request: Request) -> Paper:
    return await desk.paper(request.path_params["paper"])


async def _drop(desk: Desk, request: Request) -> Response:
    data = await _body(request, most=desk.settings.upload_mib << 20)
    paper = await desk.open(data, request.query_params.get("name", "pasted")[:255])
    return _json({"id": paper.id})


async def _state(desk: Desk, request: Request) -> Response:
    """How far a paper is, at once or as soon as that is news."""
    paper = await _paper(desk, request)
    asked = request.query_params
    after, wait = asked.get("after", ""), asked.get("wait", "")
    if after.isdecimal() and wait.isdecimal():
        seconds = min(int(wait[:9]) / 1000, _LONGEST_WAIT)
        await paper.changed_since(int(after), most_seconds=seconds)
    return _json(state_of(paper, asked.get("engine")))


def state_of(paper: Paper, engine: str | None = None) -> dict[str, Any]:
    """What a script needs to know of a paper between two looks."""
    count = paper.info.page_count
    reading = paper.readings.get(engine or paper.current or "")
    return {
        "revision": paper.revision,
        "name": paper.name,
        "count": count,
        "engine": None if reading is None else reading.engine,
        "stage": "new" if reading is None else reading.stage.value,
        "marks": "." * count if reading is None else reading.marks(count),
        "under_way": {}
        if reading is None
        else {str(number): round(far, 2) for number, far in reading.under_way().items()},
        "written": {}
        if reading is None
        else {str(number): count for number, count in reading.written().items()},
        "done": 0 if reading is None else reading.done_count,
        "asked": 0 if reading is None else len(reading.numbers),
        "error": None if reading is None else reading.error,
        "edits": 0 if reading is None else len(reading.edits),
    }


async def _read(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    wanted = await _object(request)
    engine = str(wanted.get("engine"))
    await desk.read(
        paper, engine, str(wanted.get("pages") or ""), shown=not wanted.get("aside", False)
    )
    return _json(state_of(paper, engine))


async def _cancel(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    await desk.cancel(paper)
    return _json(state_of(paper))


async def _picture(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    width = _WIDTHS.get(request.path_params["width"])
    if width is None:
        raise InputMissing("there is no picture of this size")
    data = await desk.picture(paper, request.path_params["number"], width)
    return Response(data, media_type="image/jpeg", headers=_KEEP)


async def _page(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    reading = paper.reading(request.query_params.get("engine"))
    number = request.path_params["number"]
    return _json(await anyio.to_thread.run_sync(_shown, paper, reading, number))


def _shown(paper: Paper, reading: Reading, number: int) -> dict[str, Any]:
    edited = frozenset(reading.edits)
    page = edited_page(_page_of(paper, reading, number), reading.edits)
    figures = _figure_addresses(paper, reading)
    return {"engine": reading.engine, **shown_page(page, figures=figures, edited=edited)}


def _page_of(paper: Paper, reading: Reading, number: int) -> Page:
    """A page as far as it is known: with the passes over the whole document once that is read."""
    if reading.stage is Stage.RUNNING or number not in reading.pages:
        return reading.page(number)
    document = reading.document(paper.name, paper.info)
    return next(page for page in document.pages if page.number == number)


def _figure_addresses(paper: Paper, reading: Reading) -> dict[str, str]:
    at = list(paper.readings).index(reading.engine)
    start = f"{PREFIX}/papers/{paper.id}/crops/{at}"
    return {block: f"{start}/{block}" for block in reading.figures()}


async def _text(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    document = paper.reading().document(paper.name, paper.info)
    number, form = request.path_params["number"], request.path_params["form"]
    text = await anyio.to_thread.run_sync(page_text, document, number, form)
    return PlainTextResponse(text, headers=_FRESH)


async def _block(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    document = paper.reading().document(paper.name, paper.info)
    shown = editable(block_of(document.pages, request.path_params["block"]))
    return _json({"form": shown.form, "value": shown.value})


async def _edit(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    reading = paper.reading()
    if reading.stage is Stage.RUNNING:
        raise UsageError("it is being read", hint="Wait until that is done, or cancel it")
    wanted = await _object(request)
    block_id, value = request.path_params["block"], wanted.get("value")
    document = reading.document(paper.name, paper.info)
    block = block_of(document.pages, block_id)
    if value is None:
        reading.edit(block_id, None)
    else:
        reading.edit(block_id, await anyio.to_thread.run_sync(rewritten, block, str(value)))
    return _json(state_of(paper))


async def _crop(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    readings = list(paper.readings.values())
    at = request.path_params["engine"]
    found = readings[int(at)] if at.isdecimal() and int(at) < len(readings) else None
    path = None if found is None else found.figures().get(request.path_params["block"])
    if path is None:
        raise InputMissing("there is no such figure")
    kind = "image/png" if path.suffix == ".png" else "image/jpeg"
    data = await anyio.to_thread.run_sync(path.read_bytes)
    return Response(data, media_type=kind, headers=_FRESH)


async def _differences(desk: Desk, request: Request) -> Response:
    paper = await _paper(desk, request)
    number = request.path_params["number"]
    sides = [paper.reading(request.query_params.get(side)) for side in ("left", "right")]

    def compare() -> dict[str, Any]:
        pages = [edited_page(_page_of(paper, one, number), one.edits) for one in sides]
        html = [
            reading_html(page, _figure_addresses(paper, one))
            for page, one in zip(pages, sides, strict=True)
        ]
        found = differences(*html)
        return {
            "left": found.left,
            "right": found.right,
            "same": found.same,
            "only_left": found.only_left,
            "only_right": found.only_right,
            "statuses": [page.status.value for page in pages],
            "problems": [[one.message for one in page.problems] for page in pages],
        }

    return _json(await anyio.to_thread.run_sync(compare))


async def _file(desk: Desk, request: Request) -> Response:
    """The whole document in one format, or all of them as a zip, to be saved."""
    paper = await _paper(desk, request)
    reading = paper.reading()
    document = reading.document(paper.name, paper.info)
    form = request.path_params["form"]
    if form == "zip":
        data = await anyio.to_thread.run_sync(archive, document, reading.figures())
        return _saved(data, f"{stem_of(paper.name)}.zip", "application/zip")
    suffix = find_output(form).suffix
    text = await anyio.to_thread.run_sync(page_text, document, None, form)
    return _saved(text.encode(), f"{stem_of(paper.name)}{suffix}", "application/octet-stream")


def _saved(data: bytes, name: str, kind: str) -> Response:
    from urllib.parse import quote

    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    headers = {**_FRESH, "Content-Disposition": disposition}
    return Response(data, media_type=kind, headers=headers)
