"""The options that only ``chandra-bench`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated

import typer

from moonpress.cli.options import OUTPUT, SERVER

LOAD = "Load"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...", help="PDFs, pictures or folders of them.", show_default=False
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
