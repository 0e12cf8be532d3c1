"""What answers first: browsers load the page's fixed parts while Streamlit is being imported.

Owns the moments between listening and being ready. Importing Streamlit and what reads documents
takes more than a second, and so does a browser with the scripts of the page; one after the other
they would be two.
"""

from __future__ import annotations

import importlib.util
import mimetypes
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread
from starlette.responses import HTMLResponse, PlainTextResponse, Response

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
# The application, and what has to be entered while it serves.
Ready: TypeAlias = tuple[Application, AbstractAsyncContextManager[Any]]

_QUICK_TURNS: Final = 0.0005
PAGES: Final = ("/", "/compare", "/runs")
_TITLE: Final = ("<title>Streamlit</title>", "<title>Moonpress</title>")


class Front:
    """Serves fixed files at once, and hands everything else on as soon as somebody can take it.

    Args:
        make: Imports and makes the application; called in a thread.
        failed: Told why that, or its start, did not go well.
    """

    def __init__(self, make: Callable[[], Ready], failed: Callable[[BaseException], None]) -> None:
        self._make = make
        self._failed = failed
        self._application: Application | None = None
        self._settled = anyio.Event()
        self._ending = anyio.Event()
        folder = _streamlit_files()
        index = (folder / "index.html").read_text(encoding="utf-8").replace(*_TITLE)
        self._index = HTMLResponse(index, headers={"Cache-Control": "no-cache"})
        # A request finds a name in this table or nothing: no path is made of what a client says.
        self._files = {
            f"/{path.relative_to(folder).as_posix()}": path
            for path in (folder / "static").rglob("*")
            if path.is_file()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        kind, path = scope["type"], scope.get("path", "")
        if kind == "lifespan":
            await self._live(receive, send)
        elif kind == "http" and scope["method"] == "GET" and path in PAGES:
            await self._index(scope, receive, send)  # type: ignore[arg-type]
        elif kind == "http" and scope["method"] == "GET" and path in self._files:
            await _file(self._files[path])(scope, receive, send)  # type: ignore[arg-type]
        else:
            await self._hand_on(scope, receive, send)

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._settled.wait()
        if self._application is not None:
            await self._application(scope, receive, send)
        elif scope["type"] == "http":
            sorry = PlainTextResponse("The page cannot be started.", 503)
            await sorry(scope, receive, send)  # type: ignore[arg-type]

    async def _live(self, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            await receive()
            tasks.start_soon(self._serve)
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self._ending.set()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self) -> None:
        usual = sys.getswitchinterval()
        # Importing takes turns with the requests of the browser that waits for the first paint.
        sys.setswitchinterval(_QUICK_TURNS)
        try:
            application, living = await anyio.to_thread.run_sync(self._make)
            sys.setswitchinterval(usual)
            async with living:
                self._application = application
                self._settled.set()
                await self._ending.wait()
        except Exception as error:  # noqa: BLE001 - the edge of the application
            self._failed(error)
        finally:
            self._application = None
            self._settled.set()


def _streamlit_files() -> Path:
    """The folder of Streamlit's page, without importing it.

    Raises:
        ModuleNotFoundError: Streamlit is not installed.
    """
    found = importlib.util.find_spec("streamlit")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    return Path(found.submodule_search_locations[0]) / "static"


def _file(path: Path) -> Response:
    """A file whose name holds a digest of what is in it, so that browsers may keep it for good."""
    # Read here and not in a thread: it is small, and threads wait for imports.
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    kept = {"Cache-Control": "public, immutable, max-age=31536000"}
    return Response(path.read_bytes(), media_type=kind, headers=kept)
