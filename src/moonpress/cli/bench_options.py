"""The options that only ``chandra-bench`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from moonpress.cli.options import OUTPUT, SERVER

LOAD = "Load"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...", help="PDFs, pictures or folders of them.", show_default=False
    ),
]
Truths = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER", help="Documents with their truths beside them.", show_default=False
    ),
]
Readings = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Also write what was read, and accuracy.json, there.",
        rich_help_panel=OUTPUT,
    ),
]
Url = Annotated[
    str, typer.Option("--url", metavar="URL", help="The server.", rich_help_panel=SERVER)
]
Versus = Annotated[
    str | None,
    typer.Option(
        "--versus",
        metavar="URL",
        help="A second server, sent the same pages afterwards.",
        rich_help_panel=SERVER,
    ),
]
PageCount = Annotated[
    int, typer.Option("--pages", metavar="COUNT", min=1, help="To send.", rich_help_panel=LOAD)
]
Clients = Annotated[
    int,
    typer.Option(
        "--clients", metavar="COUNT", min=1, help="Pages in flight.", rich_help_panel=LOAD
    ),
]
MeanTokens = Annotated[
    int | None,
    typer.Option(
        "--mean-tokens",
        metavar="COUNT",
        min=1,
        help="Force replies of this mean length, log-normal, the same for every server.",
        rich_help_panel=LOAD,
    ),
]
Prepared = Annotated[
    int,
    typer.Option(
        "--prepared",
        metavar="COUNT",
        min=0,
        help="Encode so many pictures before the clock starts.",
        rich_help_panel=LOAD,
    ),
]
Name = Annotated[
    str, typer.Option("--name", metavar="TEXT", help="Of this load.", rich_help_panel=OUTPUT)
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Also write NAME.json and NAME.html there.",
        rich_help_panel=OUTPUT,
    ),
]

PLAN = "Fleet"
FAULTS = "Simulation"


def _plan(*names: str, metavar: str | None, text: str, panel: str = PLAN, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)


Gpu = Annotated[
    str,
    _plan("--gpu", metavar="NAME", text="l4, a10, 3090, 4090, l40s, a100, h100, h200 or b200."),
]
Gpus = Annotated[int, _plan("--gpus", metavar="COUNT", min=1, text="How many.")]
Papers = Annotated[int | None, _plan("--papers", metavar="COUNT", min=1, text="To read.")]
PapersPerYear = Annotated[
    int | None,
    _plan("--papers-per-year", metavar="COUNT", min=1, text="That come, instead of --papers."),
]
PagesPerPaper = Annotated[
    float, _plan("--pages-per-paper", metavar="COUNT", min=0.1, text="On average.")
]
TokensPerPage = Annotated[
    float, _plan("--tokens-per-page", metavar="COUNT", min=1, text="Written, on average.")
]
PricePerGpu = Annotated[
    float | None,
    _plan("--price-per-hour", metavar="AMOUNT", min=0, text="Of one GPU, in any currency."),
]
Simulate = Annotated[
    bool,
    _plan("--simulate", metavar=None, text="Let replicas fail and be slow.", panel=FAULTS),
]
MtbfHours = Annotated[
    float,
    _plan(
        "--mtbf-hours",
        metavar="HOURS",
        min=0.01,
        text="Between two failures of one replica.",
        panel=FAULTS,
    ),
]
RestartMinutes = Annotated[
    float,
    _plan(
        "--restart-minutes",
        metavar="MINUTES",
        min=0,
        text="Until a replica that failed reads again.",
        panel=FAULTS,
    ),
]
Stragglers = Annotated[
    float,
    _plan(
        "--stragglers",
        metavar="SHARE",
        min=0,
        max=1,
        text="Of replicas, that read at 70% of the rate.",
        panel=FAULTS,
    ),
]
Seed = Annotated[int, _plan("--seed", metavar="NUMBER", text="Of all chance.", panel=FAULTS)]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT),
]
