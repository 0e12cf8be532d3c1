"""Drafts that belong together: parts of a paragraph, list items, lines of code.

Owns joining after the reading order is known. Never reorders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from statistics import median

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft, around
from moonpress.engines.embedded.headings import letter_size
from moonpress.engines.embedded.lists import Item, list_html, marker_of
from moonpress.engines.embedded.types import Box

_ENDED = re.compile(r"[.:;!?\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")
_ENDS_FLOW = (BlockKind.HEADING, BlockKind.LIST, BlockKind.CODE)


def join_continued(drafts: Sequence[Draft]) -> list[Draft]:
    """Give a paragraph that breaks off and its rest, in the next column, the same chain.

    Each part keeps a box of its own.
    """
    result: list[Draft] = []
    begun: int | None = None
    around_all: Box | None = None
    last = 0
    for draft in drafts:
        result.append(draft)
        if draft.kind in _ENDS_FLOW:
            begun = None
        if draft.kind is not BlockKind.TEXT:
            continue
        if (
            begun is not None
            and around_all is not None
            and _continues(result[last], around_all, draft)
        ):
            result[begun] = replace(result[begun], chain=begun)
            result[-1] = replace(draft, chain=begun)
            around_all = around_all.union(draft.box)
        else:
            begun, around_all = len(result) - 1, draft.box
        last = len(result) - 1
    return result


def _continues(part: Draft, whole: Box, rest: Draft) -> bool:
    """Whether ``rest`` goes on where ``part`` breaks off; ``whole`` is around all parts so far."""
    head, tail = part.text, rest.text
    if not head or not tail or _ENDED.search(head):
        return False
    return tail[0].islower() and rest.box.y0 < whole.y1


def join_runs(drafts: Sequence[Draft]) -> list[Draft]:
    """Join neighbouring list items into lists and neighbouring code into one block."""
    result: list[Draft] = []
    run: list[Draft] = []
    makers: dict[BlockKind, Callable[[Sequence[Draft]], Draft]] = {
        BlockKind.LIST: _list,
        BlockKind.CODE: _code,
    }
    for draft in [*drafts, None]:
        if run and (draft is None or draft.kind is not run[0].kind):
            result.append(makers[run[0].kind](run))
            run = []
        if draft is not None and draft.kind in makers:
            run.append(draft)
        elif draft is not None:
            result.append(draft)
    return result


def _list(items: Sequence[Draft]) -> Draft:
    marker = marker_of(items[0].text)
    numbered = marker is not None and (marker.number is not None or not marker.length)
    if len(items) == 1 and numbered:
        # A lone number or label is more often a numbered paragraph than a list.
        return replace(items[0], kind=BlockKind.TEXT)
    indent = 0.8 * median(letter_size(line) for item in items for line in item.lines)
    html = list_html([Item(item.text, item.box.x0) for item in items], indent)
    return _whole(items, BlockKind.LIST, html)


def _code(parts: Sequence[Draft]) -> Draft:
    """Code keeps its lines, their indents and the blank lines between its parts."""
    lines = [line for part in parts for line in part.lines]
    left = min(line.box.x0 for line in lines)
    letter = median(line.box.width / max(len(line.text), 1) for line in lines)
    height = median(line.box.height for line in lines)
    texts: list[str] = []
    bottom = parts[0].box.y0
    for row in (row for part in parts for row in part.rows):
        if row[0].box.y0 - bottom > height:
            texts.append("")
        indent = round((row[0].box.x0 - left) / max(letter, 1.0))
        texts.append(" " * indent + " ".join(line.text for line in row))
        bottom = row[0].box.y1
    code = escape("\n".join(texts), quote=False)
    return _whole(parts, BlockKind.CODE, f"<pre><code>{code}</code></pre>")


def _whole(parts: Sequence[Draft], kind: BlockKind, html: str) -> Draft:
    rows = tuple(row for part in parts for row in part.rows)
    return Draft(kind, around(part.box for part in parts), rows, html=html)
