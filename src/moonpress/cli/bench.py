"""``chandra-bench``: how well engines read, how fast servers do, and how many GPUs a job needs.

Owns the command lines. What measuring needs is imported after parsing, so that ``--help`` is quick.
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
_HELP = """\
Usage: chandra-bench COMMAND

  accuracy    Read documents whose truth is known, and tell how well.
  load        Send page pictures to an OCR server and tell how fast it reads.
  plan        Tell how fast GPUs read papers, how long that takes and what it costs.

chandra-bench COMMAND --help shows the options of one.
"""
_ACCURACY_EPILOG = """\
Examples:

chandra-bench accuracy truths/ --engine embedded

chandra-bench accuracy truths/ --url http://gpu1:8000/v1 -o readings/ --json

A folder has paper.pdf and beside it paper.md, paper.html or paper.txt with what it says. Scores: \
cer and wer, errors in characters and words (0 is best); order and found, of its blocks; teds and \
cells, of its tables (1 is best).
"""
_LOAD_EPILOG = """\
Examples:

chandra-bench load papers/ --url http://gpu1:8000/v1 --pages 1500 --clients 256

chandra-bench load papers/ --url http://a:8000/v1 --versus http://b:8000/v1 -o load/

Rates are of the steady part, between the ramp-up and the tail. --mean-tokens forces the lengths \
of replies, for servers with random weights: their speed is real, their text is not.
"""

_PLAN_EPILOG = """\
Examples:

chandra-bench plan --gpu l40s --gpus 16 --papers 27000 --pages-per-paper 20 --price-per-hour 1.8

chandra-bench plan --gpu h200 --gpus 4 --papers-per-year 3500000 --simulate

The rates are of Chandra-OCR-2 on vLLM, from a roofline fitted to runs with random weights on one \
H200, and corrected by what others have published of other GPUs. --json shows those figures and \
how far the roofline is off.
"""

accuracy_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
load_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
plan_app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@accuracy_app.command(cls=GroupedCommand, epilog=_ACCURACY_EPILOG)
def accuracy(
    folder: b.Truths,
    *,
    dpi: o.Dpi = None,
    output: b.Readings = None,
    as_json: b.AsJson = False,
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
    _version: o.Version = False,
) -> None:
    """Read documents whose truth is known, and tell how well."""
    given = dict(locals())
    voice = Voice(quiet=quiet)

    def work() -> int:
        from moonpress.cli import bench_accuracy
        from moonpress.cli.engine_choice import EngineChoice

        command = bench_accuracy.AccuracyCommand(
            folder=folder,
            dpi=dpi,
            output=output,
            as_json=as_json,
            reading=EngineChoice.from_options(given),
        )
        return bench_accuracy.run_accuracy(command, voice)

    raise typer.Exit(run_at_edge(work, subject=folder, voice=voice))


@load_app.command(cls=GroupedCommand, epilog=_LOAD_EPILOG)
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


@plan_app.command(cls=GroupedCommand, epilog=_PLAN_EPILOG)
def plan(
    *,
    gpu: b.Gpu = "h200",
    gpus: b.Gpus = 1,
    papers: b.Papers = None,
    papers_per_year: b.PapersPerYear = None,
    pages_per_paper: b.PagesPerPaper = 20,
    tokens_per_page: b.TokensPerPage = 1150,
    price_per_hour: b.PricePerGpu = None,
    simulate: b.Simulate = False,
    mtbf_hours: b.MtbfHours = 1000,
    restart_minutes: b.RestartMinutes = 5,
    stragglers: b.Stragglers = 0.05,
    seed: b.Seed = 1,
    as_json: b.AsJson = False,
    _version: o.Version = False,
) -> None:
    """Tell how fast GPUs read papers, how long that takes and what it costs."""
    voice = Voice()

    def work() -> int:
        from moonpress.cli import bench_plan

        command = bench_plan.PlanCommand(
            gpu=gpu,
            gpus=gpus,
            papers=papers,
            papers_per_year=papers_per_year,
            pages_per_paper=pages_per_paper,
            tokens_per_page=tokens_per_page,
            price_per_hour=price_per_hour,
            simulate=simulate,
            mtbf_hours=mtbf_hours,
            restart_minutes=restart_minutes,
            stragglers=stragglers,
            seed=seed,
            as_json=as_json,
        )
        return bench_plan.run_plan(command)

    raise typer.Exit(run_at_edge(work, subject=PROGRAM, voice=voice))


def main() -> int:
    """Run the command; the return value is the exit code."""
    apps = {"accuracy": accuracy_app, "load": load_app, "plan": plan_app}
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in apps:
        return run_app(apps[name], f"{PROGRAM} {name}", sys.argv[2:] or ["--help"])
    if name == "--version":
        return run_app(load_app, PROGRAM, [name])
    if name == "--help":
        sys.stdout.write(_HELP)
        return 0
    known = ", ".join(apps)
    write_line(f"error: {PROGRAM} has the commands {known}. See {PROGRAM} --help [usage]")
    return USAGE
