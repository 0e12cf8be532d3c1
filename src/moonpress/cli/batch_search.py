"""The documents that a command names, found as often as somebody asks.

Owns applying ``--shard`` and ``--limit`` to what is found. Never opens documents.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from moonpress.cli.batch_places import Part
from moonpress.errors import UsageError
from moonpress.sources.inputs.address import is_remote
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.find import ARXIV, FindOptions, find_items
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.opening import Opener


class Search:
    """What a command names.

    Args:
        inputs: As `find_items` takes them.
        scratch: For copies of what is not on this machine.
        part: Of the documents; ``None`` for all.
        limit: Documents at most; ``None`` for all.
        arxiv: Address of an arXiv paper, with ``{id}`` in it; ``None`` for arXiv's own.

    Raises:
        UsageError: ``arxiv`` has no place for the id.

    Attributes:
        leave_out: Folders that are not entered.
        opener: Opens what is found.
        skipped: How many files were passed over for their suffix.
    """

    def __init__(
        self,
        inputs: tuple[str, ...],
        scratch: Path,
        *,
        part: Part | None,
        limit: int | None,
        arxiv: str | None,
    ) -> None:
        if arxiv is not None and "{id}" not in arxiv:
            raise UsageError("--arxiv-url has no {id} in it", hint=f"Write it like {ARXIV}")
        self._inputs = inputs
        self._arxiv = arxiv or ARXIV
        self._copies = LocalCopies(scratch, Limits())
        self._part = part
        self._limit = limit
        self.leave_out: tuple[Path, ...] = ()
        self.opener = Opener(self._copies)
        self.skipped = 0

    def items(self) -> Iterator[InputItem | InputProblem]:
        """Documents of the part, and what cannot be read."""
        options = FindOptions(
            copies=self._copies,
            leave_out=self.leave_out,
            arxiv=self._arxiv,
            skipped=self._count_skipped,
        )
        for one in find_items(self._inputs, options):
            if isinstance(one, InputProblem) or self._part is None or self._part.has(one.id):
                yield one

    def nothing_there(self) -> list[InputProblem]:
        """Problems with all inputs, when none of them is there; empty when one may be."""
        if any(Path(one).exists() or is_remote(one) for one in self._inputs):
            return []
        problems: list[InputProblem] = []
        for one in self.items():
            if isinstance(one, InputItem):
                return []
            problems.append(one)
        return problems

    def count(self, gone: threading.Event) -> int | None:
        """How many documents there are; ``None`` when nobody wants to know any more."""
        count = 0
        options = FindOptions(copies=self._copies, leave_out=self.leave_out, arxiv=self._arxiv)
        found = find_items(self._inputs, options)
        documents = (
            one
            for one in found
            if isinstance(one, InputItem) and (self._part is None or self._part.has(one.id))
        )
        for _ in islice(documents, self._limit):
            count += 1
            if gone.is_set():
                return None
        return count

    def _count_skipped(self, _name: str) -> None:
        self.skipped += 1
