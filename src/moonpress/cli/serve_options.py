"""The options that only ``chandra-serve`` has.

Owns wording and validation of single values, as `moonpress.cli.options` does for what is shared.
"""

from __future__ import annotations

from typing import Annotated

import typer

SERVICE = "Service"
BOUNDS = "Bounds"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        envvar="MOONPRESS_HOST",
        help="Listen there; 0.0.0.0 for all networks.",
        rich_help_panel=SERVICE,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="NUMBER",
        min=0,
        max=65535,
        envvar="MOONPRESS_PORT",
        help="Listen there.",
        rich_help_panel=SERVICE,
    ),
]
KeysFile = Annotated[
    str | None,
    typer.Option(
        "--keys-file",
        metavar="PATH",
        help="API keys, one a line: KEY or sha256:HASH, then NAME, requests at once, requests a "
        "minute. The variable MOONPRESS_SERVE_KEYS holds keys with commas between. With none, "
        "everybody may ask.",
        rich_help_panel=SERVICE,
    ),
]
Certificate = Annotated[
    str | None,
    typer.Option("--tls-certificate", metavar="PATH", help="PEM file.", rich_help_panel=SERVICE),
]
CertificateKey = Annotated[
    str | None,
    typer.Option("--tls-key", metavar="PATH", help="PEM file.", rich_help_panel=SERVICE),
]
MaxBody = Annotated[
    int,
    typer.Option("--max-body", metavar="MIB", min=1, help="Of a request.", rich_help_panel=BOUNDS),
]
MaxPages = Annotated[
    int,
    typer.Option(
        "--max-pages", metavar="COUNT", min=1, help="Of one document.", rich_help_panel=BOUNDS
    ),
]
MaxQueue = Annotated[
    int,
    typer.Option(
        "--max-queue",
        metavar="COUNT",
        min=0,
        help="Requests that may wait; more get 429 with Retry-After.",
        rich_help_panel=BOUNDS,
    ),
]
FetchHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--fetch-host",
        metavar="NAME",
        help="Host that an image_url may lead to, such as *.example.org. Any public one by "
        "default; private addresses never. Can be repeated.",
        rich_help_panel=BOUNDS,
    ),
]
