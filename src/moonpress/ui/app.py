"""The application: Streamlit's, with a desk behind it.

Owns Streamlit's settings and what starts and ends with the server. Never listens: see
`moonpress.ui.server`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from streamlit import config, net_util
from streamlit.starlette import App

from moonpress.errors import MoonpressError
from moonpress.ui.desk import Desk, open_desk
from moonpress.ui.routes import desk_routes, error_answer
from moonpress.ui.routes_runs import RunFiles
from moonpress.ui.runs import Runs
from moonpress.ui.settings import UiSettings

_SCRIPT: Final = Path(__file__).with_name("script.py")
_LIGHT: Final = {
    "primaryColor": "#4f46c8",
    "backgroundColor": "#ffffff",
    "secondaryBackgroundColor": "#f4f4f8",
    "textColor": "#1d1d2b",
    "linkColor": "#4338b0",
    "borderColor": "#dcdce6",
}
_DARK: Final = {
    "primaryColor": "#8f88ff",
    "backgroundColor": "#14141c",
    "secondaryBackgroundColor": "#1f1f2b",
    "textColor": "#ececf4",
    "linkColor": "#aaa5ff",
    "borderColor": "#35354a",
}


@dataclass(slots=True)
class Office:
    """What the pages of the running server work with.

    Attributes:
        settings: Of this start.
        runs: Batch runs that may be looked into.
        files: Addresses of their files.
        desk: Open papers; there while the server runs.
    """

    settings: UiSettings
    runs: Runs
    files: RunFiles
    desk: Desk | None = None

    def open_desk(self) -> Desk:
        """The desk.

        Raises:
            RuntimeError: the server does not run.
        """
        if self.desk is None:
            raise RuntimeError("the server does not run")
        return self.desk


@dataclass(slots=True)
class _Shelf:
    """Where a script finds the office."""

    office: Office | None = None


@cache
def _shelf() -> _Shelf:
    """One for the process: Streamlit runs a script by its path, and hands it nothing."""
    return _Shelf()


def office_here() -> Office:
    """The office of this process's server.

    Raises:
        RuntimeError: none was made.
    """
    office = _shelf().office
    if office is None:
        raise RuntimeError("this script is run by chandra-ui only")
    return office


def create_app(settings: UiSettings, *, host: str, port: int) -> App:
    """The application of one start; a process has one at a time."""
    _configure(settings, host, port)
    runs = Runs(settings.runs)
    office = _shelf().office = Office(settings, runs, RunFiles(runs.now))

    @asynccontextmanager
    async def lifespan(_app: App) -> AsyncIterator[dict[str, Any]]:
        async with open_desk(settings) as desk:
            office.desk = desk
            try:
                yield {}
            finally:
                office.desk = None

    return App(
        _SCRIPT,
        lifespan=lifespan,
        routes=[*desk_routes(office.open_desk), office.files.route()],
        exception_handlers={MoonpressError: error_answer},
    )


def _configure(settings: UiSettings, host: str, port: int) -> None:
    """Streamlit's options: nothing is sent anywhere, nothing watched, nothing for developers."""
    chosen: dict[str, Any] = {
        "browser.gatherUsageStats": False,
        "browser.serverAddress": host,
        "browser.serverPort": port,
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "client.showErrorLinks": False,
        "logger.level": "error",
        "server.address": host,
        "server.enableStaticServing": False,
        "server.fileWatcherType": "none",
        "server.headless": True,
        "server.maxUploadSize": settings.upload_mib,
        "server.port": port,
        "server.runOnSave": False,
        "server.showEmailPrompt": False,
        **{f"theme.light.{name}": value for name, value in _LIGHT.items()},
        **{f"theme.dark.{name}": value for name, value in _DARK.items()},
    }
    for name, value in chosen.items():
        config.set_option(name, value)
    # Importing Streamlit turns the server's own lines on, of which those about requests hold the
    # ids of papers.
    for name in ("uvicorn", "uvicorn.access", "uvicorn.asgi", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # Before it refuses a page of another host, Streamlit asks a server on the internet whether that
    # is this machine's address. It takes an answer that it has already.
    vars(net_util)["_external_ip"] = ""
