"""What ``chandra-ui`` does after its options are read.

Owns checking them and starting the page. Never serves anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from moonpress.cli.voice import Voice
from moonpress.errors import EngineUnavailable, InputMissing, UnknownName, UsageError

if TYPE_CHECKING:
    from moonpress.ui.front import Ready
    from moonpress.ui.server import PageServer


@dataclass(frozen=True, slots=True)
class UiCommand:
    """One call of ``chandra-ui``; the fields are its options."""

    host: str
    port: int
    headless: bool
    runs: tuple[str, ...]
    max_upload: int
    url: str | None
    engine: str
    fast: bool
    ocr: str
    languages: tuple[str, ...]
    workers: int | None
    batch_size: int | None
    page_timeout: float | None
    api_key: str | None
    model: str | None


def run_page(command: UiCommand, voice: Voice) -> int:
    """Serve the page until a signal comes.

    Raises:
        UsageError: the port is taken, or an option makes no sense.
        InputMissing: a folder of runs is not there.
        EngineUnavailable: a package is missing.
    """
    _check(command)
    try:
        from moonpress.ui.server import PageServer
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    server = PageServer(command.host, command.port)

    def make() -> Ready:
        try:
            return _application(command, server)
        except ModuleNotFoundError as error:
            raise _missing(error) from error

    def started() -> None:
        if not voice.quiet:
            voice.say(f"Open {server.url} in a browser; Ctrl-C ends it")
        if not command.headless:
            import webbrowser

            webbrowser.open(server.url)

    try:
        server.run(make, started)
    except KeyboardInterrupt:
        # The server has ended what was under way and passes the signal on.
        if not server.ended_by_signal:
            raise
    return 0


def _check(command: UiCommand) -> None:
    for run in command.runs:
        if not Path(run).is_dir():
            raise InputMissing("there is no such folder", file=run)
    if command.url is not None and urlsplit(command.url).scheme not in {"http", "https"}:
        raise UsageError(
            f"--url {command.url!r} is no address", hint="Write it like http://gpu1:8080"
        )
    # Not by the registry: importing that takes longer than everything else before the first paint.
    names = {entry.name for entry in entry_points(group="moonpress.engines")}
    if command.engine not in names:
        raise UnknownName(
            f"no engine is called {command.engine!r}",
            hint=f"Choose among {', '.join(sorted(names))}",
        )


def _missing(error: ModuleNotFoundError) -> EngineUnavailable:
    message = f"the page needs the package {error.name}, which is not installed"
    return EngineUnavailable(message, hint="Run pip install 'moonpress[ui]'")


def _application(command: UiCommand, server: PageServer) -> Ready:
    """Import what the page stands on, and make it; a browser loads its fixed parts meanwhile."""
    from moonpress.engines.registry import EngineOptions
    from moonpress.settings import server_options
    from moonpress.ui.app import create_app
    from moonpress.ui.settings import SERVICE_ENGINE, RemoteService, UiSettings

    service = None if command.url is None else RemoteService(command.url, command.api_key)
    # With --url the key is that service's.
    api_key = command.api_key if service is None else None
    options = EngineOptions(
        workers=command.workers,
        batch_size=command.batch_size,
        page_timeout=command.page_timeout,
        fast=command.fast,
        languages=command.languages,
        ocr=command.ocr,
        server=server_options(api_key=api_key, model=command.model),
    )
    settings = UiSettings(
        engine=command.engine if service is None else SERVICE_ENGINE,
        options=options,
        service=service,
        runs=tuple(Path(run) for run in command.runs),
        upload_mib=command.max_upload,
    )
    app = create_app(settings, host=server.host, port=server.port)
    return app, app.lifespan()(app)
