"""``chandra-serve``: an HTTP service in front of an engine.

Owns the command line and nothing else. What serving needs is imported after parsing, so that
``--help`` is quick.
"""

from __future__ import annotations

import typer

from moonpress.cli import options as o
from moonpress.cli import serve_options as s
from moonpress.cli.entry import run_app
from moonpress.cli.errors import run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice

PROGRAM = "chandra-serve"
_EPILOG = """\
Examples:

chandra-serve --engine embedded

chandra-serve --url http://gpu1:8000/v1 --url http://gpu2:8000/v1 --host 0.0.0.0 --port 8080

curl -F file=@paper.pdf http://localhost:8080/v1/ocr

SIGTERM and Ctrl-C finish the requests under way and end with code 0.
"""

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(cls=GroupedCommand, epilog=_EPILOG)
def chandra_serve(
    *,
    host: s.Host = "127.0.0.1",
    port: s.Port = 8080,
    keys_file: s.KeysFile = None,
    tls_certificate: s.Certificate = None,
    tls_key: s.CertificateKey = None,
    max_body: s.MaxBody = 256,
    max_pages: s.MaxPages = 2000,
    max_queue: s.MaxQueue = 256,
    fetch_host: s.FetchHosts = None,
    engine: o.EngineName = "auto",
    fast: o.Fast = False,
    ocr: o.Ocr = "auto",
    languages: o.Languages = None,
    workers: o.Workers = None,
    batch_size: o.BatchSize = None,
    page_timeout: o.PageTimeout = None,
    url: o.Urls = None,
    api_key: o.ApiKey = None,
    model: o.Model = None,
    ca_file: o.CaFile = None,
    header: o.Headers = None,
    image_format: o.ImageFormat = None,
    no_confidence: o.NoConfidence = False,
    quiet: o.QuietFlag = False,
    verbose: o.VerboseFlag = False,
    json_logs: o.JsonLogs = False,
    _version: o.Version = False,
) -> None:
    """Serve documents over HTTP: POST /v1/ocr, and an API that OpenAI's clients know."""
    given = dict(locals())
    voice = Voice(quiet=quiet, verbose=verbose, json_logs=json_logs)

    def work() -> int:
        from moonpress.cli import serve_run
        from moonpress.cli.engine_choice import EngineChoice

        command = serve_run.ServeCommand(
            host=host,
            port=port,
            keys_file=keys_file,
            certificate=tls_certificate,
            key=tls_key,
            max_body=max_body,
            max_pages=max_pages,
            max_queue=max_queue,
            fetch_hosts=tuple(fetch_host or ()),
            reading=EngineChoice.from_options(given),
        )
        return serve_run.run_service(command, voice)

    raise typer.Exit(run_at_edge(work, subject=PROGRAM, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    return run_app(app, PROGRAM)
