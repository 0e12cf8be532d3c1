"""Files of batch runs, for the links on their page.

Owns the address and the headers that keep a document's markup from acting in our name. Never serves
what lies outside the outputs of the runs that the command line named.
"""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Callable, Sequence

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from moonpress.errors import InputMissing
from moonpress.ui.runs import Run

# Nothing in a document may run, fetch or be taken for a page of ours.
_HEADERS = {
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# Browsers save what they do not know; people want to look.
_TEXT = {".md", ".txt", ".json", ".jsonl"}


class RunFiles:
    """Addresses of files of runs.

    The key in them is drawn anew at each start, so that no other site can guess one.

    Args:
        runs: Asked for at every request, because runs come and go.
    """

    def __init__(self, runs: Callable[[], Sequence[Run]]) -> None:
        self._runs = runs
        self._key = secrets.token_urlsafe(12)

    def address(self, run: Run, relative: str) -> str:
        """Where a file can be fetched."""
        from urllib.parse import quote

        return f"/desk/runs/{self._key}/{run.id}/{quote(relative)}"

    def route(self) -> Route:
        """The route that serves them."""
        return Route("/desk/runs/{key}/{run}/{path:path}", self._serve, methods=["GET"])

    async def _serve(self, request: Request) -> Response:
        wanted = request.path_params
        runs = await anyio.to_thread.run_sync(self._runs)
        found = [run for run in runs if run.id == wanted["run"]]
        if not found or not secrets.compare_digest(wanted["key"].encode(), self._key.encode()):
            raise InputMissing("there is no such run", hint="Load the page again")
        path = await anyio.to_thread.run_sync(found[0].file, wanted["path"])
        if path.suffix in _TEXT:
            kind = "text/plain; charset=utf-8"
        else:
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, media_type=kind, headers=_HEADERS)
