"""Page selections as users write them: ``1-3,7,-1``.

Owns reading a selection against a document's page count. Never reorders: pages come in the order
in which they were asked for.
"""

from __future__ import annotations

import re

from moonpress.errors import PageRangeError

_PART = re.compile(r"\s*(-?[0-9]{1,9})?\s*(?:(?<=[0-9])\s*(-)\s*(-?[0-9]{1,9})?)?\s*")
_LONGEST_QUOTE = 60


def select_pages(selection: str | None, page_count: int, *, clamp: bool = False) -> tuple[int, ...]:
    """Page numbers that ``selection`` names, each once, in the order of the selection.

    Parts are separated by commas. A part is a page (``7``), a range with both ends included
    (``1-3``), or a range to the last page (``5-``). Negative numbers count from the end: ``-1`` is
    the last page, ``-3--1`` the last three.

    Args:
        selection: What the user wrote; ``None`` for all pages.
        page_count: Pages of the document, at least 1.
        clamp: Leave out pages that the document lacks, for a selection made for many documents.

    Raises:
        PageRangeError: it cannot be read, or names a page that the document lacks; with ``clamp``
            only when the document has none of the pages.
    """
    if selection is None:
        return tuple(range(1, page_count + 1))
    pages: dict[int, None] = {}
    for part in selection.split(","):
        first, last = _bounds(part, selection)
        pages.update(dict.fromkeys(_existing(part, first, last, page_count, clamp=clamp)))
    if not pages:
        raise PageRangeError(
            f'none of the pages "{_quoted(selection)}" is there: {_having(page_count)}'
        )
    return tuple(pages)


def check_selection(selection: str | None) -> None:
    """See whether a selection can be read at all, before any document is open.

    Raises:
        PageRangeError: it cannot.
    """
    for part in () if selection is None else selection.split(","):
        _bounds(part, selection or "")


def _bounds(part: str, selection: str) -> tuple[int, int]:
    """First and last page of a part as they are written; -1 is the last of the document."""
    match = _PART.fullmatch(part)
    if match is None or match[1] is None:
        raise PageRangeError(
            f'cannot read "{_quoted(part.strip())}" in --pages "{_quoted(selection)}"'
        )
    first = int(match[1])
    last = first if match[2] is None else int(match[3] or -1)
    if 0 in {first, last}:
        raise PageRangeError("there is no page 0")
    if (first > 0) == (last > 0) and last < first:
        raise PageRangeError(f'the range "{part.strip()}" of --pages ends before it begins')
    return first, last


def _existing(part: str, first: int, last: int, page_count: int, *, clamp: bool) -> range:
    """The pages of a part that the document has."""
    begin, end = (number if number > 0 else page_count + 1 + number for number in (first, last))
    if clamp:
        return range(max(begin, 1), min(end, page_count) + 1)
    for number, page in ((first, begin), (last, end)):
        if not 1 <= page <= page_count:
            raise PageRangeError(f"there is no page {number}: {_having(page_count)}")
    if end < begin:
        raise PageRangeError(f'the range "{part.strip()}" of --pages ends before it begins')
    return range(begin, end + 1)


def _having(page_count: int) -> str:
    return f"the document has {page_count} page{'' if page_count == 1 else 's'}"


def _quoted(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
