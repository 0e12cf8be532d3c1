"""Page headers and footers that only the whole document can tell.

Owns the pass that finds lines standing at the same place on many pages. Never deletes anything:
such blocks change their kind, and outputs decide what to show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from moonpress.document import Block, BlockKind, Page

_TAG = re.compile(r"<[^>]+>")
_DIGITS = re.compile(r"\d+|\b[ivxlcIVXLC]{1,6}\b")
_TOP, _BOTTOM = 0.12, 0.88
_LONGEST = 160
_FEWEST_PAGES = 3
_SHARE_OF_PAGES = 0.3
_CANDIDATES = frozenset({BlockKind.TEXT, BlockKind.HEADING, BlockKind.CAPTION, BlockKind.FOOTNOTE})

_Key = tuple[bool, str]


def mark_furniture(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Turn text that recurs at the top or bottom of the pages into headers and footers.

    Numbers are ignored when texts are compared. A text counts when it stands on at least three
    pages and on 30% of them.
    """
    seen = Counter(key for page in pages for key in {_key(b) for b in page.blocks} if key)
    enough = max(_FEWEST_PAGES, _SHARE_OF_PAGES * len(pages))
    repeated = {key for key, count in seen.items() if count >= enough}
    if not repeated:
        return tuple(pages)
    return tuple(
        replace(page, blocks=tuple(_marked(block, repeated) for block in page.blocks))
        for page in pages
    )


def _key(block: Block) -> _Key | None:
    if block.kind not in _CANDIDATES:
        return None
    at_top, at_bottom = block.bbox.y1 <= _TOP, block.bbox.y0 >= _BOTTOM
    if not (at_top or at_bottom):
        return None
    text = " ".join(_DIGITS.sub("#", _TAG.sub(" ", block.html)).split())
    return (at_top, text) if 0 < len(text) <= _LONGEST else None


def _marked(block: Block, repeated: set[_Key]) -> Block:
    key = _key(block)
    if key is None or key not in repeated:
        return block
    kind = BlockKind.PAGE_HEADER if key[0] else BlockKind.PAGE_FOOTER
    text = re.sub(r"(</?)h[1-6]\b", r"\g<1>p", block.html)
    return replace(block, kind=kind, level=None, html=text)
