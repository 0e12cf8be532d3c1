"""``chandra-batch INPUT...``: many documents, each read once, on this machine.

Owns the command lines of a run, of ``chandra-batch status`` and of ``chandra-batch retry``: options
in, requests out. What reading needs is imported after parsing, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys

import typer

from moonpress.cli import batch_options as b
from moonpress.cli import options as o
from moonpress.cli.entry import run_app
from moonpress.cli.errors import run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice

PROGRAM = "chandra-batch"
_EPILOG = """\
Examples:

chandra-batch scans/ -o read/

chandra-batch papers.jsonl --url http://gpu1:8000/v1 --url http://gpu2:8000/v1 --sink parquet

chandra-batch status read/

The same command again goes on where a run ended, however it ended. chandra-batch status FOLDER \
tells how far a run is, chandra-batch retry FOLDER lets what failed be tried again.

Exit codes: 0 all pages read, 2 bad usage, 3 some documents or pages failed, 4 nothing could be \
read, 5 engine unavailable, 1 a bug, 130 stopped by Ctrl-C.
"""

batch_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
status_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
retry_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@batch_app.command(cls=GroupedCommand, epilog=_EPILOG)
def chandra_batch(
    inputs: b.Inputs,
    *,
    pages: o.Pages = None,
    page_range: o.PageRange = None,
    password: o.Password = None,
    dpi: o.Dpi = None,
    max_image_width: o.MaxImageWidth = None,
    limit: b.Limit = None,
    arxiv_url: b.ArxivUrl = None,
    output: b.OutputFolder = None,
    sink: b.Sink = "folder",
    formats: o.Format = None,
    headers_footers: o.HeadersFooters = False,
    page_anchors: o.PageAnchors = False,
    delimiters: o.DelimiterStyle = "dollar",
    shard: b.Shard = None,
    ray: b.Ray = None,
    ledger: b.LedgerFile = None,
    engine_wait: b.EngineWait = 600.0,
    price_per_hour: b.Price = None,
    dry_run: b.DryRun = False,
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
    """Read many PDFs and pictures; what is read already is not read again."""
    given = dict(locals())
    if pages is not None and page_range is not None:
        raise typer.BadParameter("it is another name of --pages", param_hint="--page-range")
    voice = Voice(quiet=quiet, verbose=verbose, json_logs=json_logs)

    def work() -> int:
        from moonpress.cli import batch_run
        from moonpress.cli.engine_choice import EngineChoice

        command = batch_run.BatchCommand(
            inputs=tuple(inputs),
            pages=pages if pages is not None else page_range,
            password=password,
            dpi=dpi,
            max_image_width=max_image_width,
            limit=limit,
            arxiv_url=arxiv_url,
            output=output,
            sink=sink,
            formats=o.split_names(formats),
            headers_footers=headers_footers,
            page_anchors=page_anchors,
            delimiters=delimiters,
            shard=shard,
            ray=ray,
            ledger=ledger,
            engine_wait=engine_wait,
            price_per_hour=price_per_hour,
            dry_run=dry_run,
            reading=EngineChoice.from_options(given),
        )
        return batch_run.run_command(command, voice)

    raise typer.Exit(run_at_edge(work, subject=inputs[0], voice=voice))


@status_app.command(cls=GroupedCommand)
def status(
    run: b.RunPlace,
    *,
    as_json: b.AsJson = False,
    failed: b.OnlyFailed = False,
) -> None:
    """Tell how far a run is, and what failed; works while it runs."""
    voice = Voice()

    def work() -> int:
        from moonpress.cli.batch_status import show_status

        return show_status(run, as_json=as_json, only_failed=failed)

    raise typer.Exit(run_at_edge(work, subject=run, voice=voice))


@retry_app.command(cls=GroupedCommand)
def retry(run: b.RunPlace) -> None:
    """Let failed documents and pages be tried again: the next run with the same command does it."""
    voice = Voice()

    def work() -> int:
        from moonpress.cli.batch_status import forget_failures

        return forget_failures(run, voice)

    raise typer.Exit(run_at_edge(work, subject=run, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    apps = {"status": status_app, "retry": retry_app}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in apps:
        return run_app(apps[name], f"{PROGRAM} {name}", sys.argv[2:])
    return run_app(batch_app, PROGRAM)
