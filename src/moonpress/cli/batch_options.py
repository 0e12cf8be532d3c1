"""The options that only ``chandra-batch`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from moonpress.cli.options import INPUT, OUTPUT

SinkChoice: TypeAlias = Literal["folder", "jsonl", "parquet"]
RUN = "Run"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Files, folders (with all below), globs, .zip and .tar archives, .jsonl manifests, "
        "@LIST files, s3:// gs:// https:// addresses, arxiv:IDs.",
        show_default=False,
    ),
]
OutputFolder = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Where results, manifest and report go: a folder or an address such as "
        "s3://bucket/read. By default INPUT's name with -read, here.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Sink = Annotated[
    SinkChoice,
    typer.Option(
        "--sink",
        metavar="folder|jsonl|parquet",
        help="A folder for each document, or a dataset of shards with a row for each.",
        show_default=True,
        rich_help_panel=OUTPUT,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="COUNT",
        min=1,
        help="Take the first documents only.",
        rich_help_panel=INPUT,
    ),
]
ArxivUrl = Annotated[
    str | None,
    typer.Option(
        "--arxiv-url",
        metavar="URL",
        envvar="MOONPRESS_ARXIV_URL",
        help="Where the papers of arxiv:ID come from, with {id} for the id: a mirror, for many.",
        rich_help_panel=INPUT,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Take the K-th of N parts of the documents, the same on every machine: run N "
        "commands, 1/N to N/N, with the same output.",
        rich_help_panel=RUN,
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Read on all machines of a Ray cluster: auto for the one that this machine belongs "
        "to, HOST:PORT, or ray://HOST:PORT. Needs moonpress[ray].",
        rich_help_panel=RUN,
    ),
]
LedgerFile = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PATH",
        help="Where the run notes how far it is. By default in the output folder, or in your own "
        "state folder when the output is an address.",
        rich_help_panel=RUN,
    ),
]
EngineWait = Annotated[
    float,
    typer.Option(
        "--engine-wait",
        metavar="SECONDS",
        min=0,
        max=604800,
        help="How long to wait for servers that went away before the run ends.",
        show_default=True,
        rich_help_panel=RUN,
    ),
]
Price = Annotated[
    float | None,
    typer.Option(
        "--price-per-hour",
        metavar="NUMBER",
        min=0,
        help="What the machines cost: the report then tells the price of 1,000 pages.",
        rich_help_panel=RUN,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Count documents and pages and estimate time and cost; read nothing.",
        rich_help_panel=RUN,
    ),
]
RunPlace = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The output folder of a run, or its ledger.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As one JSON object, for programs.")]
OnlyFailed = Annotated[bool, typer.Option("--failed", help="List everything that failed.")]
