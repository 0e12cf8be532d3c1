"""How far a document of a run is.

Owns the states and the plain types that the ledger hands out. Never touches the ledger's file.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import StrEnum

from moonpress.document import Page
from moonpress.sources.base import SourceInfo
from moonpress.sources.inputs.item import InputItem


class State(StrEnum):
    """``waiting → reading → read → done``, or ``failed`` at any point before ``done``."""

    WAITING = "waiting"
    READING = "reading"
    READ = "read"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as the ledger has it.

    Attributes:
        key: Short number within this ledger.
        item: As it was found.
        state: How far it is.
        info: What is known of the file; ``None`` before it was opened.
        selected: Pages that are to be read; ``None`` before it was opened.
        failed: Of these, could not be read.
        partial: Of these, were read in part.
        location: Where it is stored, once it is.
        code: Why it failed as a whole: the stable name of the error.
        message: The same in words.
        seconds: Engine time of all its pages.
        output_tokens: Of all its pages, for model engines.
    """

    key: int
    item: InputItem
    state: State
    info: SourceInfo | None = None
    selected: int | None = None
    failed: int = 0
    partial: int = 0
    location: str | None = None
    code: str | None = None
    message: str | None = None
    seconds: float = 0.0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page that came out, with its place (from 0) in its document's selection."""

    key: int
    position: int
    page: Page


def entry_of(row: sqlite3.Row, item: InputItem | None = None) -> Entry:
    """A row of the table of documents; ``item`` as it was just found, where it was."""
    found = item or InputItem(
        id=row["id"],
        uri=row["uri"],
        name=row["name"],
        version=row["version"],
    )
    info = None
    if row["sha256"] is not None:
        info = SourceInfo(
            media_type=row["media_type"],
            page_count=row["page_count"],
            sha256=row["sha256"],
            bytes=row["bytes"],
            title=row["title"],
            author=row["author"],
        )
    return Entry(
        key=row["key"],
        item=found,
        state=State(row["state"]),
        info=info,
        selected=row["selected"],
        failed=row["failed"],
        partial=row["partial"],
        location=row["location"],
        code=row["code"],
        message=row["message"],
        seconds=row["seconds"],
        output_tokens=row["output_tokens"],
    )
