"""Where the results of one document go, decided before anything is read.

Owns the meaning of ``--output`` and ``--format``. Never writes a result: see `writer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Targets:
    """Where each format goes.

    Attributes:
        files: Path by format name; empty when the result goes to standard output.
        figures: Folder for the crops beside the files; ``None`` for standard output.
        stdout: Name of the format that goes to standard output, if one does.
    """

    files: Mapping[str, Path]
    figures: Path | None
    stdout: str | None = None


def resolve_targets(source_name: str, output: str | None, formats: Sequence[str]) -> Targets:
    """Decide where the results go.

    Args:
        source_name: Path or name of the input, as the user gave it.
        output: Value of ``--output``: a file with a known suffix, a folder (existing, or ending in
            a slash), ``-`` for standard output, or ``None`` for ``<stem>.md`` in the current folder.
        formats: Values of ``--format``; empty to go by the suffix (all formats for a folder).

    Raises:
        UnknownName: no output format has this name.
        UsageError: the combination makes no sense.
        OutputUnwritable: the place is the input itself, or cannot hold the results.
    """
    raise NotImplementedError


def check_writable(targets: Targets) -> None:
    """Find out, before reading starts, whether the results can be written.

    Raises:
        OutputUnwritable: they cannot.
        NoSpace: the disk is full already.
    """
    raise NotImplementedError
