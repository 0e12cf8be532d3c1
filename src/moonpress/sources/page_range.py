"""Page selections as users write them: ``1-3,7,-1``.

Owns reading a selection against a document's page count. Never reorders: pages come in the order
in which they were asked for.
"""

from __future__ import annotations

import re

from moonpress.errors import PageRangeError

_PART = re.compile(r"\s*(-?[0-9]{1,9})?\s*(?:(?<=[0-9])\s*(-)\s*(-?[0-9]{1,9})?)?\s*")
_LONGEST_QUOTE = 60


def select_pages(selection: str | None, page_count: int) -> tuple[int, ...]:
    """Page numbers that ``selection`` names, each once, in the order of the selection.

    Parts are separated by commas. A part is a page (``7``), a range with both ends included
    (``1-3``), or a range to the last page (``5-``). Negative numbers count from the end: ``-1`` is
    the last page, ``-3--1`` the last three.

    Args:
        selection: What the user wrote; ``None`` for all pages.
        page_count: Pages of the document, at least 1.

    Raises:
        PageRangeError: it cannot be read, or names a page that the document lacks.
    """
    if selection is None:
        return tuple(range(1, page_count + 1))
    pages: dict[int, None] = {}
    for part in selection.split(","):
        pages.update(dict.fromkeys(_part(part, selection, page_count)))
    return tuple(pages)


def _part(part: str, selection: str, page_count: int) -> range:
    match = _PART.fullmatch(part)
    if match is None or match[1] is None:
        raise PageRangeError(
            f'cannot read "{_quoted(part.strip())}" in --pages "{_quoted(selection)}"'
        )
    first = _page(int(match[1]), page_count)
    if match[2] is None:
        return range(first, first + 1)
    last = page_count if match[3] is None else _page(int(match[3]), page_count)
    if last < first:
        raise PageRangeError(f'the range "{part.strip()}" of --pages ends before it begins')
    return range(first, last + 1)


def _page(number: int, page_count: int) -> int:
    if number == 0:
        raise PageRangeError("there is no page 0")
    page = number if number > 0 else page_count + 1 + number
    if not 1 <= page <= page_count:
        pages = "1 page" if page_count == 1 else f"{page_count} pages"
        raise PageRangeError(f"there is no page {number}: the document has {pages}")
    return page


def _quoted(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
