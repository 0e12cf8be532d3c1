"""``chandra-ui``: a page in the browser that shows documents beside their readings.

Owns the command line and nothing else. What the page needs is imported after parsing, so that
``--help`` is quick.
"""

from __future__ import annotations

import typer

from moonpress.cli import options as o
from moonpress.cli import ui_options as u
from moonpress.cli.entry import run_app
from moonpress.cli.errors import run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice

PROGRAM = "chandra-ui"
_EPILOG = """\
Examples:

chandra-ui

chandra-ui --headless --host 0.0.0.0 --port 8501

chandra-ui --url http://gpu1:8080 --runs results/

Ctrl-C and SIGTERM end it with code 0.
"""

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(cls=GroupedCommand, epilog=_EPILOG)
def chandra_ui(
    *,
    host: u.Host = "127.0.0.1",
    port: u.Port = 8501,
    headless: u.Headless = False,
    runs: u.Runs = None,
    max_upload: u.MaxUpload = 256,
    url: u.ServiceUrl = None,
    engine: o.EngineName = "auto",
    fast: o.Fast = False,
    ocr: o.Ocr = "auto",
    languages: o.Languages = None,
    workers: o.Workers = None,
    batch_size: o.BatchSize = None,
    page_timeout: o.PageTimeout = None,
    api_key: o.ApiKey = None,
    model: o.Model = None,
    quiet: o.QuietFlag = False,
    verbose: o.VerboseFlag = False,
    json_logs: o.JsonLogs = False,
    _version: o.Version = False,
) -> None:
    """Open a page in the browser: drop documents in, see pages and readings side by side."""
    voice = Voice(quiet=quiet, verbose=verbose, json_logs=json_logs)

    def work() -> int:
        from moonpress.cli import ui_run

        command = ui_run.UiCommand(
            host=host,
            port=port,
            headless=headless,
            runs=tuple(runs or ()),
            max_upload=max_upload,
            url=url,
            engine=engine,
            fast=fast,
            ocr=ocr,
            languages=o.split_names(languages),
            workers=workers,
            batch_size=batch_size,
            page_timeout=page_timeout,
            api_key=api_key,
            model=model,
        )
        return ui_run.run_page(command, voice)

    raise typer.Exit(run_at_edge(work, subject=PROGRAM, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    return run_app(app, PROGRAM)
