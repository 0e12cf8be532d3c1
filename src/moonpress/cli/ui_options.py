"""The options that only ``chandra-ui`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated

import typer

PAGE = "Page"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        envvar="MOONPRESS_HOST",
        help="Listen there; 0.0.0.0 for all networks. Whoever reaches it may use it: there are no "
        "passwords.",
        rich_help_panel=PAGE,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="NUMBER",
        min=0,
        max=65535,
        envvar="MOONPRESS_UI_PORT",
        help="Listen there; 0 for any that is free.",
        rich_help_panel=PAGE,
    ),
]
Headless = Annotated[
    bool, typer.Option("--headless", help="Open no browser.", rich_help_panel=PAGE)
]
Runs = Annotated[
    list[str] | None,
    typer.Option(
        "--runs",
        metavar="DIR",
        help="Output folder of a chandra-batch run, or a folder of such folders, to look into. "
        "Can be repeated.",
        rich_help_panel=PAGE,
    ),
]
MaxUpload = Annotated[
    int,
    typer.Option(
        "--max-upload",
        metavar="MIB",
        min=1,
        max=2000,
        help="The largest file that is taken.",
        rich_help_panel=PAGE,
    ),
]
ServiceUrl = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        envvar="MOONPRESS_SERVE_URL",
        help="A chandra-serve that reads instead of this machine, such as http://gpu1:8080. "
        "Servers of the engine vllm are named by the variable MOONPRESS_URL.",
        rich_help_panel=PAGE,
    ),
]
