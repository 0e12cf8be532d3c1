"""Where a batch run writes: results, ledger, manifest, report.

Owns the default places and the check that they can be written. Never writes results.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from moonpress.batch.ledger_view import LEDGER_FOLDER, LEDGER_NAME
from moonpress.cli.state import state_folder
from moonpress.errors import OutputUnwritable, UsageError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Part:
    """The ``number``-th (from 1) of ``count`` parts of the documents."""

    number: int
    count: int

    def has(self, item_id: str) -> bool:
        """Whether a document belongs to this part: a matter of its id alone."""
        digest = hashlib.blake2b(item_id.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1

    def __str__(self) -> str:
        """A name for files of this part."""
        return f"{self.number}-of-{self.count}"


@dataclass(frozen=True, slots=True)
class Places:
    """Where a run writes.

    Attributes:
        root: Where documents go: a local folder or an address.
        ledger: The ledger's file.
        reports: An existing local folder for the manifest and the report.
    """

    root: str
    ledger: Path
    reports: Path


def part_of(text: str | None) -> Part | None:
    """The value of ``--shard``.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(
            f"--shard {text!r} is no part of a whole",
            hint="Write 3/16 for the third of 16 parts",
        )
    return Part(int(match[1]), int(match[2]))


def places_for(
    inputs: tuple[str, ...], output: str | None, ledger: str | None, part: Part | None
) -> Places:
    """Decide where a run writes, and make the local folders.

    Raises:
        OutputUnwritable: a folder cannot be made.
    """
    root = output or _default_output(inputs)
    local = not _ADDRESS.match(root)
    name = LEDGER_FOLDER if local else hashlib.sha256(root.encode()).hexdigest()[:16]
    folder = Path(root) / name if local else state_folder() / name
    if part is not None:
        folder = folder / f"part-{part}"
    reports = Path(root) if local and part is None else folder
    for made in (reports, folder):
        try:
            made.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"cannot be made: {error.strerror or error}"
            raise OutputUnwritable(reason, file=str(made)) from error
        if not os.access(made, os.W_OK):
            raise OutputUnwritable("cannot be written", file=str(made))
    return Places(root, Path(ledger) if ledger else folder / LEDGER_NAME, reports)


def _default_output(inputs: tuple[str, ...]) -> str:
    """``scans-read`` for ``scans/``, ``moonpress-read`` for several inputs or an address."""
    if len(inputs) == 1 and not _ADDRESS.match(inputs[0]):
        name = Path(inputs[0]).resolve().name
        if name and not set(name) & set("*?[]:@"):
            return f"{name}-read"
    return "moonpress-read"
