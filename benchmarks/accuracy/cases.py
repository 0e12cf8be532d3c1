"""What is measured: a file, the pages of it to read, and what is known to stand on them.

Owns the types. Never finds files: see `corpora`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Truth:
    """What a good reading contains; parts that are not known are ``None`` or empty.

    Attributes:
        text: The page's text in reading order.
        blocks: Its paragraphs in reading order, for the order score; empty where unknown.
        tables: Its tables as HTML.
    """

    text: str | None = None
    blocks: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One reading to make and score.

    Attributes:
        name: Unique in its corpus, fit for a file name.
        group: What it is averaged with.
        path: The file.
        pages: 1-based pages to read; their readings are joined.
        truth: What is known.
        script: ``latin``, ``cjk`` (spaces do not count) or ``other``.
    """

    name: str
    group: str
    path: Path
    pages: tuple[int, ...]
    truth: Truth
    script: str = "latin"


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine made of one page.

    Attributes:
        markdown: Its output; empty when it failed.
        seconds: Wall seconds.
        cpu_seconds: CPU seconds of the engine's process and its children.
        peak_mb: Largest resident memory so far of that process and its children, in megabytes.
        error: Why there is no output.
    """

    markdown: str
    seconds: float
    cpu_seconds: float
    peak_mb: float
    error: str = ""
