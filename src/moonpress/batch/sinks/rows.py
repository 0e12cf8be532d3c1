"""A document as one row of a dataset.

Owns the columns and what stands in them. Never writes files: see `jsonl` and `parquet`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from moonpress.document import Document, PageStatus, RenderOptions
from moonpress.document.html import clean_text
from moonpress.document.rendering import find_output
from moonpress.outputs.disk import output_errors

DEFAULT_FORMATS: Final = ("markdown", "json")
_MEDIA_TYPES: Final = {".png": "image/png", ".jpg": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of a figure; Markdown, HTML and JSON of the same row link to it by its name.

    Attributes:
        name: Such as ``p3-b12.png``.
        block: Id of the block that it shows.
        media_type: ``image/png`` or ``image/jpeg``.
        data: The file.
    """

    name: str
    block: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Row:
    """One document.

    Attributes:
        id: Of the document within the run.
        source: What the user calls it.
        sha256: Of its bytes.
        status: ``ok``; ``partial`` when some page was not read, or not wholly; ``failed`` when none
            was.
        page_count: Pages of the source, selected or not.
        pages: Pages that were to be read.
        failed_pages: Numbers (1-based) of those that could not be read.
        title: From the source.
        author: From the source.
        media_type: Of the source.
        engine: Who read it.
        moonpress_version: Which version did.
        texts: Text by format name.
        figures: Pictures, in the order of their blocks.
    """

    id: str
    source: str
    sha256: str
    status: str
    page_count: int
    pages: int
    failed_pages: tuple[int, ...]
    title: str | None
    author: str | None
    media_type: str
    engine: str
    moonpress_version: str
    texts: Mapping[str, str]
    figures: tuple[Figure, ...]

    @property
    def size(self) -> int:
        """Bytes of its texts and pictures, about."""
        return sum(map(len, self.texts.values())) + sum(len(f.data) for f in self.figures)


def make_row(
    item_id: str,
    document: Document,
    crops: Mapping[str, Path],
    formats: Sequence[str],
    options: RenderOptions,
) -> Row:
    """The row of ``document``, rendered in ``formats``.

    Raises:
        OutputError: a crop cannot be read.
    """
    ids = [block.id for page in document.pages for block in page.blocks]
    figures = tuple(_figure(block, crops[block]) for block in ids if block in crops)
    options = replace(options, figures={figure.block: figure.name for figure in figures})
    meta = document.metadata
    return Row(
        id=item_id,
        source=clean_text(document.source),
        sha256=document.sha256,
        status=_status(document),
        page_count=meta.page_count,
        pages=len(document.pages),
        failed_pages=document.failed_pages,
        title=None if meta.title is None else clean_text(meta.title),
        author=None if meta.author is None else clean_text(meta.author),
        media_type=meta.media_type,
        engine=meta.engine,
        moonpress_version=meta.moonpress_version,
        texts={name: _text(name, document, options) for name in formats},
        figures=figures,
    )


def _text(name: str, document: Document, options: RenderOptions) -> str:
    text = clean_text(find_output(name).render(document, options))
    # For people it is indented, over lines that a row has no use for.
    return orjson.dumps(orjson.loads(text)).decode() if name == "json" else text


def _figure(block: str, path: Path) -> Figure:
    with output_errors(str(path)):
        data = path.read_bytes()
    return Figure(path.name, block, _MEDIA_TYPES[path.suffix], data)


def _status(document: Document) -> str:
    statuses = [page.status for page in document.pages]
    failed = statuses.count(PageStatus.FAILED)
    if failed and failed == len(statuses):
        return PageStatus.FAILED.value
    if failed or PageStatus.PARTIAL in statuses:
        return PageStatus.PARTIAL.value
    return PageStatus.OK.value
