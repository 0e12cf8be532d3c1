"""How a command talks: lines for people or events for programs, on standard error.

Owns the choice among them and what may be printed on a terminal. Never touches standard output,
which carries results only.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Voice:
    """How one run talks.

    Attributes:
        quiet: Say nothing but what went wrong.
        verbose: Write every event as a plain line, and tracebacks of bugs.
        json_logs: Write events as JSON lines, and no other line.
    """

    quiet: bool = False
    verbose: bool = False
    json_logs: bool = False

    @property
    def chatty(self) -> bool:
        """Whether a person watches and wants to know how it goes."""
        if self.quiet or self.verbose or self.json_logs:
            return False
        return sys.stderr is not None and sys.stderr.isatty()

    def say(self, line: str) -> None:
        """Write one line for people; dropped when only events are wanted."""
        if not self.json_logs:
            write_line(line)


def write_line(line: str) -> None:
    """Write one line to standard error, whatever characters it holds.

    A closed standard error is no reason to fail: the exit code still tells.
    """
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()
    except OSError:
        return


def printable(text: str) -> str:
    r"""``text`` with everything escaped that could move a terminal's cursor or hide a word.

    File names may hold line breaks, escape sequences, direction marks and bytes that are no text.

    >>> printable("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
