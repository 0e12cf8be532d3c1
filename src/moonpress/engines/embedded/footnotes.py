"""Footnotes: small print at the foot of a column.

Owns telling footnotes from the body on one page. Never moves anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft, shared_width
from moonpress.engines.embedded.headings import letter_size
from moonpress.engines.embedded.types import Box

_MARK = re.compile(
    r"^(?:[*\u2020\u2021\u00a7\u00b6\u2217]+|[\u00b9\u00b2\u00b3\u2070-\u2079]+|\d{1,3}[.)]?|[a-z]\))"
    r"\s*[\"'\u201c\u2018(\[]?[^\W\d_]"
)
_RUNNING = (BlockKind.TEXT, BlockKind.LIST)
_SMALL = 0.93
_HIGHEST = 0.4


def mark_footnotes(
    drafts: Sequence[Draft], body_size: float, height: float, rulings: Sequence[Box]
) -> list[Draft]:
    """The drafts, with footnotes named as such.

    A footnote is set smaller than the body, has nothing but small print below it in its column,
    and begins with a mark, follows a short rule, or stands right under another footnote.
    """
    result = list(drafts)
    small = [
        k
        for k, draft in enumerate(drafts)
        if draft.kind in _RUNNING
        and draft.box.y0 > _HIGHEST * height
        and median(letter_size(line) for line in draft.lines) < _SMALL * body_size
    ]
    notes: list[Draft] = []
    for k in sorted(small, key=lambda k: drafts[k].box.y0):
        draft = drafts[k]
        if any(_below(drafts[j], draft) for j in range(len(drafts)) if j not in small):
            continue
        marked = bool(_MARK.match(draft.text)) or any(_ruled(rule, draft.box) for rule in rulings)
        if marked or any(_follows(draft, note) for note in notes):
            notes.append(draft)
            result[k] = replace(draft, kind=BlockKind.FOOTNOTE)
    return result


def _below(other: Draft, draft: Draft) -> bool:
    inside = shared_width(other.box, draft.box) > 0.1 * min(other.box.width, draft.box.width)
    furniture = other.kind in (BlockKind.PAGE_FOOTER, BlockKind.PAGE_HEADER)
    return inside and not furniture and other.box.y0 > draft.box.y0


def _ruled(rule: Box, box: Box) -> bool:
    """Whether a short rule runs close above the box."""
    height = min(box.height, 0.5 * rule.width + 1)
    near = -0.2 * height < box.y0 - rule.y1 < max(1.2 * height, 12.0)
    return near and abs(rule.x0 - box.x0) < 0.1 * box.width and rule.width < 0.7 * box.width


def _follows(draft: Draft, note: Draft) -> bool:
    gap = draft.box.y0 - note.box.y1
    line = note.lines[-1].box.height
    return gap < 1.5 * line and shared_width(draft.box, note.box) > 0.5 * draft.box.width
