"""``chandra-pdf FILE``: one PDF or picture into Markdown, HTML, JSON or plain text.

Owns the command line and nothing else: options in, a `PdfRequest` out, handed to
`moonpress.cli.run`. What reading needs is imported after parsing, so that ``--help`` is quick.
"""

from __future__ import annotations

import typer

from moonpress.cli import options as o
from moonpress.cli.entry import run_app
from moonpress.cli.errors import run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice

PROGRAM = "chandra-pdf"
_EPILOG = """\
Examples:

chandra-pdf report.pdf --output report.md

chandra-pdf scan.tiff -o results/ --languages ara

chandra-pdf paper.pdf --url http://gpu1:8000/v1

curl -s $URL | chandra-pdf - --pages 1-3,-1 > start.md

Exit codes: 0 all pages read, 2 bad usage, 3 some pages failed or were read in part, 4 nothing \
could be read, 5 engine unavailable, 1 a bug.
"""

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(cls=GroupedCommand, epilog=_EPILOG)
def chandra_pdf(
    file: o.File,
    *,
    pages: o.Pages = None,
    page_range: o.PageRange = None,
    password: o.Password = None,
    dpi: o.Dpi = None,
    max_image_width: o.MaxImageWidth = None,
    output: o.Output = None,
    formats: o.Format = None,
    headers_footers: o.HeadersFooters = False,
    page_anchors: o.PageAnchors = False,
    delimiters: o.DelimiterStyle = "dollar",
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
    """Read a PDF or a picture into Markdown, HTML, JSON or plain text."""
    given = dict(locals())
    voice = Voice(quiet=quiet, verbose=verbose, json_logs=json_logs)

    def work() -> int:
        from moonpress.cli import run
        from moonpress.cli.engine_choice import EngineChoice

        request = run.PdfRequest(
            file=file,
            pages=o.one_of_two_names(pages, page_range),
            password=password,
            dpi=dpi,
            max_image_width=max_image_width,
            output=output,
            formats=o.split_names(formats),
            headers_footers=headers_footers,
            page_anchors=page_anchors,
            delimiters=delimiters,
            reading=EngineChoice.from_options(given),
        )
        return run.read_to_files(request, voice)

    raise typer.Exit(run_at_edge(work, subject=file, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    return run_app(app, PROGRAM)
