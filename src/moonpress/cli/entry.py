"""The entry of every command: arguments in, exit code out.

Owns running a Typer application and the line for arguments that it refuses. Never knows a command.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from moonpress.cli.errors import USAGE
from moonpress.cli.voice import write_line


def run_app(app: typer.Typer, program: str, arguments: Sequence[str] | None = None) -> int:
    """Run a command; the return value is the exit code.

    Args:
        app: With one command.
        program: What the user calls it.
        arguments: After the program's name; those of this process when left out.
    """
    command = typer.main.get_command(app)
    given = None if arguments is None else list(arguments)
    try:
        code: int | None = command.main(given, prog_name=program, standalone_mode=False)
    except typer.TyperException as error:
        cause = " ".join(error.format_message().split()).rstrip(".")
        write_line(f"error: {cause}. See {program} --help [usage]")
        return USAGE
    return code or 0
