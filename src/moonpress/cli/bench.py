"""``chandra-bench``: how fast a server reads.

Owns the command line. What measuring needs is imported after parsing, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys

import typer

from moonpress.cli import bench_options as b
from moonpress.cli import options as o
from moonpress.cli.entry import run_app
from moonpress.cli.errors import USAGE, run_at_edge
from moonpress.cli.help import GroupedCommand
from moonpress.cli.voice import Voice, write_line

PROGRAM = "chandra-bench"
_EPILOG = """\
Examples:

chandra-bench load papers/ --url http://gpu1:8000/v1 --pages 1500 --clients 256

chandra-bench load papers/ --url http://a:8000/v1 --versus http://b:8000/v1 -o load/

Rates are of the steady part, between the ramp-up and the tail. --mean-tokens forces the lengths \
of replies, for servers with random weights: their speed is real, their text is not.
"""

load_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@load_app.command(cls=GroupedCommand, epilog=_EPILOG)
def load(
    inputs: b.Inputs,
    *,
    url: b.Url = "http://localhost:8000/v1",
    versus: b.Versus = None,
    api_key: o.ApiKey = None,
    model: o.Model = None,
    pages: b.PageCount = 512,
    clients: b.Clients = 64,
    mean_tokens: b.MeanTokens = None,
    dpi: o.Dpi = None,
    image_format: o.ImageFormat = None,
    no_confidence: o.NoConfidence = False,
    prepared: b.Prepared = 0,
    name: b.Name = "load",
    output: b.Output = None,
    quiet: o.QuietFlag = False,
    _version: o.Version = False,
) -> None:
    """Send page pictures to an OCR server and tell how fast it reads."""
    voice = Voice(quiet=quiet)

    def work() -> int:
        from moonpress.cli import bench_load

        command = bench_load.LoadCommand(
            inputs=tuple(inputs),
            urls=(url,) if versus is None else (url, versus),
            api_key=api_key,
            model=model,
            pages=pages,
            clients=clients,
            mean_tokens=mean_tokens,
            dpi=dpi,
            image_format=image_format,
            logprobs=not no_confidence,
            prepared=prepared,
            name=name,
            output=output,
        )
        return bench_load.run_load(command, voice)

    raise typer.Exit(run_at_edge(work, subject=url, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["load"]:
        arguments = arguments[1:]
    elif arguments[:1] not in ([], ["--help"], ["--version"]):
        write_line(f"error: {PROGRAM} has the command load. See {PROGRAM} --help [usage]")
        return USAGE
    return run_app(load_app, f"{PROGRAM} load", arguments or ["--help"])
