"""Batch runs as the page shows them: how far, how fast, what failed, where the outputs are.

Owns finding runs below the folders that the command line named, and the check that a file asked for
lies in one of their outputs. Never writes, and never looks anywhere else.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from moonpress.batch import ledger_view
from moonpress.batch.entry import Entry, State
from moonpress.batch.ledger_view import LEDGER_FOLDER
from moonpress.errors import InputMissing, MoonpressError

_SHOWN = 200
_MEMORY_SECONDS = 60.0
_MOST_RUNS = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that failed, and why; ``page`` is ``None`` for a whole document."""

    id: str
    page: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Output:
    """A document that is stored.

    Attributes:
        id: Of the document.
        pages: How many were asked for.
        failed: Of these.
        files: Paths relative to the run's folder, empty where the documents are elsewhere.
    """

    id: str
    pages: int
    failed: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at one moment.

    Attributes:
        number: Counted from 1 in each ledger.
        engine: Who reads.
        documents: How many, by state.
        pages: Pages that came out.
        expected: Pages of all documents: known, or guessed from those that were opened.
        guessed: Whether it is a guess.
        failed_pages: Pages that could not be read.
        rate: Pages a second in the last minute, as seen from here; ``None`` after one look.
        still_seconds: Since anything changed, as seen from here.
        failures: The first that failed.
        outputs: The last that were stored.
    """

    number: int
    engine: str
    documents: dict[State, int]
    pages: int
    expected: int
    guessed: bool
    failed_pages: int
    rate: float | None
    still_seconds: float
    failures: tuple[Failure, ...]
    outputs: tuple[Output, ...]

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return not any(self.documents.get(s) for s in (State.WAITING, State.READING, State.READ))


@dataclass(slots=True)
class Run:
    """A run that may be looked into.

    Attributes:
        folder: Its output folder.
        name: For people.
    """

    folder: Path
    name: str
    _seen: deque[tuple[float, int]] = field(default_factory=deque)
    _changed: float = field(default_factory=time.monotonic)

    @property
    def id(self) -> str:
        """Short name of the folder for addresses."""
        return hashlib.blake2b(str(self.folder).encode(), digest_size=8).hexdigest()

    def look(self) -> RunView:
        """How far it is now.

        Raises:
            InputMissing: the ledger is gone.
            UsageError: it is of another version.
            OutputError: it cannot be read.
        """
        paths = ledger_view.find_ledgers(self.folder).paths
        runs = [(path, ledger_view.last_run(path)) for path in paths]
        documents: Counter[State] = Counter()
        pages = selected = failed = 0
        for path, number in runs:
            counts = ledger_view.counts(path, run=number)
            documents.update(counts.documents)
            pages += ledger_view.pages_out(path, run=number)
            selected += counts.selected
            failed += counts.failed
        expected, guessed = _expected(documents, selected)
        rate = self._note(pages)
        return RunView(
            number=max((number for _, number in runs), default=0),
            engine=ledger_view.fact(paths[0], "engine") or "",
            documents=dict(documents),
            pages=pages,
            expected=max(expected, pages),
            guessed=guessed,
            failed_pages=failed,
            rate=rate,
            still_seconds=time.monotonic() - self._changed,
            failures=tuple(islice(_failures(runs), _SHOWN)),
            outputs=tuple(islice(self._outputs(runs), _SHOWN)),
        )

    def _note(self, pages: int) -> float | None:
        """Remember this look, and tell the rate since the oldest that is remembered."""
        now = time.monotonic()
        if not self._seen or self._seen[-1][1] != pages:
            self._changed = now
        self._seen.append((now, pages))
        while self._seen[0][0] < now - _MEMORY_SECONDS:
            self._seen.popleft()
        seconds = now - self._seen[0][0]
        return (pages - self._seen[0][1]) / seconds if seconds > 0.5 else None

    def _outputs(self, runs: Sequence[tuple[Path, int]]) -> list[Output]:
        found = (
            entry
            for path, number in runs
            for entry in islice(ledger_view.entries(path, run=number, state=State.DONE), _SHOWN)
        )
        return [
            Output(entry.item.id, entry.selected or 0, entry.failed, self._files(entry))
            for entry in found
        ]

    def _files(self, entry: Entry) -> tuple[str, ...]:
        if entry.location is None:
            return ()
        try:
            place = self.file(entry.location, may_be_folder=True)
            inside = sorted(place.iterdir()) if place.is_dir() else [place]
            root = self.folder.resolve()
            return tuple(str(path.relative_to(root)) for path in inside if path.is_file())
        except (MoonpressError, OSError, ValueError):
            return ()

    def file(self, relative: str, *, may_be_folder: bool = False) -> Path:
        """A file of the run's output.

        Raises:
            InputMissing: there is none; also for whatever lies outside, and for the ledger.
        """
        root = self.folder.resolve()
        try:
            path = (root / relative).resolve()
            inside = path.relative_to(root)
            found = path.is_file() or (may_be_folder and path.is_dir())
        except (OSError, ValueError):
            found, inside = False, Path()
        if not found or LEDGER_FOLDER in inside.parts:
            raise InputMissing("there is no such file in this run", file=relative)
        return path


class Runs:
    """The runs that some folders name: each itself, or else those directly in it.

    Threads may ask at once.

    Args:
        folders: As the command line named them.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._known: dict[Path, Run] = {}

    def now(self) -> list[Run]:
        """The runs that are there now; the same objects every time."""
        return [self._known.setdefault(path, Run(path, path.name)) for path in self._places()]

    def _places(self) -> list[Path]:
        found: list[Path] = []
        for folder in self._folders:
            if _is_run(folder):
                found.append(folder.resolve())
                continue
            try:
                inside = sorted(path.resolve() for path in folder.iterdir() if path.is_dir())
            except OSError:
                continue
            found += [path for path in inside[:_MOST_RUNS] if _is_run(path)]
        return list(dict.fromkeys(found))


def _is_run(folder: Path) -> bool:
    try:
        ledger_view.find_ledgers(folder)
    except (MoonpressError, OSError):
        return False
    return folder.is_dir()


def _expected(documents: Counter[State], selected: int) -> tuple[int, bool]:
    """All pages, and whether documents that nobody has opened make it a guess."""
    unopened = documents.get(State.WAITING, 0)
    opened = documents.total() - unopened - documents.get(State.FAILED, 0)
    if not unopened or not opened:
        return selected, bool(unopened)
    return round(selected + unopened * selected / opened), True


def _failures(runs: Sequence[tuple[Path, int]]) -> list[Failure]:
    found: list[Failure] = []
    for path, number in runs:
        documents = islice(ledger_view.entries(path, run=number, state=State.FAILED), _SHOWN)
        found += [Failure(one.item.id, None, f"{one.message} [{one.code}]") for one in documents]
        for one in ledger_view.failed_pages(path, run=number, most=_SHOWN):
            reasons = "; ".join(f"{p.message} [{p.code}]" for p in one.page.problems)
            found.append(Failure(one.id, one.page.number, reasons))
    return found
