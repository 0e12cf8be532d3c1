"""One engine's reading of a paper, while it goes on and afterwards.

Owns what is known of it: pages, progress, edits, and the document made of them. Never reads a page:
see `moonpress.ui.readers`. All of it belongs to the event loop's thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import anyio

from moonpress.document import Block, Document, Page, PageStatus
from moonpress.errors import InputMissing
from moonpress.outputs.figures import CROP_NAME
from moonpress.pipeline.finish import finish_document
from moonpress.sources.base import SourceInfo

_UNSELECTED, _WAITING, _BEGUN = ".", "w", "b"
# A bar that is full before its page is out would be a lie.
_FULLEST_GUESS = 0.95


class Stage(StrEnum):
    """How far a reading is."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(slots=True)
class Reading:
    """What an engine made of a paper so far.

    Attributes:
        engine: Who reads, as the person chose it.
        folder: Of the figures' crops.
        changed: Called after every change.
        stage: How far it is.
        error: Why it failed as a whole, in one line.
        numbers: Pages that were asked for last.
        pages: Pages that came out, by number, as the engine read them.
        edits: What a person wrote instead, by block id.
        scope: Of the task that reads; cancelling it ends the work.
    """

    engine: str
    folder: Path
    changed: Callable[[], None]
    stage: Stage = Stage.RUNNING
    error: str | None = None
    numbers: tuple[int, ...] = ()
    pages: dict[int, Page] = field(default_factory=dict)
    edits: dict[str, str] = field(default_factory=dict)
    scope: anyio.CancelScope | None = None
    _begun: dict[int, float] = field(default_factory=dict)
    _written: dict[int, list[Block]] = field(default_factory=dict)
    _seconds: list[float] = field(default_factory=list)
    _document: Document | None = None

    def start(self, numbers: tuple[int, ...]) -> None:
        """A run begins; what was read of its pages before is dropped, with its edits."""
        self.stage, self.error, self.numbers = Stage.RUNNING, None, numbers
        self._begun.clear()
        self._written.clear()
        for number in numbers:
            page = self.pages.pop(number, None)
            for block in () if page is None else page.blocks:
                self.edits.pop(block.id, None)
        self._forget()

    def page_begun(self, number: int) -> None:
        """The engine has the page."""
        self._begun[number] = time.monotonic()
        self.changed()

    def started(self, _source: str, _page_count: int) -> None:
        """The document is open; nothing to tell."""

    def block_done(self, number: int, block: Block, _tokens: int) -> None:
        """The next block of a page is written, which is not out yet."""
        self._written.setdefault(number, []).append(block)
        self.changed()

    def page_done(self, page: Page) -> None:
        """A page came out."""
        self._written.pop(page.number, None)
        began = self._begun.pop(page.number, None)
        if began is not None:
            self._seconds.append(time.monotonic() - began)
        self.pages[page.number] = page
        self._forget()

    def end(self, stage: Stage, error: str | None = None) -> None:
        """The run is over."""
        self.stage, self.error, self.scope = stage, error, None
        self._begun.clear()
        self._written.clear()
        self._forget()

    def edit(self, block_id: str, html: str | None) -> None:
        """Put a person's text in a block's place; ``None`` for what was read."""
        if html is None:
            self.edits.pop(block_id, None)
        else:
            self.edits[block_id] = html
        self._forget()

    def _forget(self) -> None:
        self._document = None
        self.changed()

    def document(self, name: str, info: SourceInfo) -> Document:
        """All pages so far, after the passes over the whole document, with the edits.

        Raises:
            InputMissing: no page is read yet.
        """
        if not self.pages:
            raise InputMissing("no page of it is read yet", file=name, hint="Read some first")
        if self._document is None:
            pages = [self.pages[number] for number in sorted(self.pages)]
            made = finish_document(pages, info=info, name=name, engine_name=self.engine)
            edited = tuple(edited_page(page, self.edits) for page in made.pages)
            self._document = replace(made, pages=edited)
        return self._document

    def figures(self) -> dict[str, Path]:
        """Crops of figures by block id."""
        return {path.stem: path for path in self.folder.iterdir() if CROP_NAME.fullmatch(path.name)}

    def marks(self, page_count: int) -> str:
        """One letter for each page of the paper.

        ``.`` not asked for, ``w`` waiting, ``b`` begun, else the first letter of its status.
        """
        running = self.stage is Stage.RUNNING
        waiting = set(self.numbers) if running else set()
        return "".join(
            self.pages[number].status.value[0]
            if number in self.pages
            else _BEGUN
            if number in self._begun
            else _WAITING
            if number in waiting
            else _UNSELECTED
            for number in range(1, page_count + 1)
        )

    def under_way(self) -> dict[int, float]:
        """Pages that the engine has now, each with how far it is by the time that others took.

        0 where nobody can tell yet.
        """
        usual = sum(self._seconds) / len(self._seconds) if self._seconds else 0.0
        now = time.monotonic()
        return {
            number: min((now - began) / usual, _FULLEST_GUESS) if usual else 0.0
            for number, began in self._begun.items()
        }

    def written(self) -> dict[int, int]:
        """How many blocks there are of pages that are not out yet."""
        return {number: len(blocks) for number, blocks in self._written.items()}

    def page(self, number: int) -> Page:
        """A page as the engine read it, or as far as it is written.

        Raises:
            InputMissing: there is nothing of it.
        """
        if number in self.pages:
            return self.pages[number]
        if number not in self._written:
            raise InputMissing(f"page {number} is not read yet", hint="Read it first")
        return Page(number, None, PageStatus.PARTIAL, blocks=tuple(self._written[number]))

    @property
    def done_count(self) -> int:
        """How many of the pages asked for last are out."""
        return sum(number in self.pages for number in self.numbers)


def edited_page(page: Page, edits: Mapping[str, str]) -> Page:
    """A page with a person's texts; nobody knows a probability for those."""
    if not any(block.id in edits for block in page.blocks):
        return page
    blocks = tuple(
        replace(block, html=edits[block.id], confidence=None) if block.id in edits else block
        for block in page.blocks
    )
    return replace(page, blocks=blocks)


def block_of(pages: Iterable[Page], block_id: str) -> Block:
    """A block by id.

    Raises:
        InputMissing: there is none.
    """
    for page in pages:
        for block in page.blocks:
            if block.id == block_id:
                return block
    raise InputMissing(f"there is no block {block_id}", hint="Load the page again")
