"""Captions, and the figure or table that each belongs to.

Owns recognising captions and tying them. Never finds figures or tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft, shared_width
from moonpress.engines.embedded.types import Region, RegionKind

_FIGURE = re.compile(
    r"^(?:fig(?:ure|\.)?|abb(?:ildung|\.)?|scheme|plate|chart|photo|\u56fe)\s*[A-Z]?\.?\d",
    re.IGNORECASE,
)
_TABLE = re.compile(r"^(?:tab(?:le|elle|\.)?|\u8868)\s*[A-Z]?\.?(?:\d|[IVX]+\b)", re.IGNORECASE)
# "Figure 2 shows" begins a sentence about it.
_MENTION = re.compile(r"^\S+\s*[A-Z]?\.?[\dIVX]+[a-z]?\s+[a-z\u00df-\u00ff]")
_LONGEST = 900


def is_caption(draft: Draft, regions: Sequence[Region]) -> bool:
    """Whether a paragraph is a caption: it says so, or the layout model does."""
    text = draft.text
    if len(text) > _LONGEST:
        return False
    if (_FIGURE.match(text) or _TABLE.match(text)) and not _MENTION.match(text):
        return True
    return any(
        r.kind in (RegionKind.FIGURE_CAPTION, RegionKind.TABLE_CAPTION)
        and r.score > 0.5
        and draft.box.inside(r.box) > 0.6
        for r in regions
    )


def tie_captions(drafts: Sequence[Draft]) -> dict[int, int]:
    """Index of a caption to the index of its figure or table; each has one at most."""
    pairs = []
    for c, caption in enumerate(drafts):
        if caption.kind is not BlockKind.CAPTION:
            continue
        text = caption.text
        for t, target in enumerate(drafts):
            if target.kind not in (BlockKind.FIGURE, BlockKind.TABLE):
                continue
            gap = max(caption.box.y0 - target.box.y1, target.box.y0 - caption.box.y1, 0.0)
            if shared_width(caption.box, target.box) < 0.3 * min(
                caption.box.width, target.box.width
            ):
                gap += 3 * caption.box.height
            wrong = _TABLE if target.kind is BlockKind.FIGURE else _FIGURE
            penalty = 10.0 * caption.lines[0].box.height if wrong.match(text) else 0.0
            limit = 6.0 * caption.lines[0].box.height + 3 * caption.box.height
            if gap <= limit:
                pairs.append((gap + penalty, c, t))
    ties: dict[int, int] = {}
    for _, c, t in sorted(pairs):
        if c not in ties and t not in ties.values():
            ties[c] = t
    return ties
