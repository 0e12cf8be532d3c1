"""Which paragraphs are headings.

Owns the signs of a heading on one page and a provisional level. Never levels over a document: the
pipeline does that by font size.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from moonpress.engines.embedded.drafts import Draft
from moonpress.engines.embedded.types import Line, Region, RegionKind

_NUMBERED = re.compile(r"^((?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4})\.?\s+[^\W\d_a-z]")
_ROMAN = re.compile(r"^[IVX]{1,5}\.\s+[^\W\d_a-z]")
_NAMED = re.compile(r"^(?:chapter|section|part|appendix)\s+[\dIVXA-Z]+\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}")
_OPENING = "\"'\u201c\u2018\u00ab([\u00a7\u00bf\u00a1\u300c\u3010"
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class BodyStyle:
    """What running text looks like on a page.

    Attributes:
        size: Letter size in pixels.
        bold: Whether most of the text is bold.
        mono: Whether most of the text is in a fixed-width font.
    """

    size: float
    bold: bool
    mono: bool


def letter_size(line: Line) -> float:
    """Letter size of a line in pixels, from its height where it is not known."""
    return line.size or line.box.height


def body_style(lines: Sequence[Line]) -> BodyStyle:
    """The style in which most letters of the page are set."""
    if not lines:
        return BodyStyle(0.0, bold=False, mono=False)
    weighted = sorted((letter_size(line), len(line.text)) for line in lines)
    half = sum(count for _, count in weighted) / 2
    passed = accumulate(count for _, count in weighted)
    middle = next(k for k, total in enumerate(passed) if total >= half)
    bold = sum(len(line.text) for line in lines if line.bold)
    mono = sum(len(line.text) for line in lines if line.mono)
    return BodyStyle(weighted[middle][0], bold=bold > half, mono=mono > half)


def heading_level(draft: Draft, body: BodyStyle, regions: Sequence[Region]) -> int | None:
    """Provisional level of a paragraph that is a heading, else ``None``."""
    text = draft.text
    if not text or len(text) > _LONGEST or len(draft.rows) > 3:
        return None
    letters = sum(c.isalpha() for c in text)
    if not _WORD.search(text) or letters < 0.4 * len(text.replace(" ", "")):
        return None
    if not (text[0].isalnum() or text[0] in _OPENING):
        return None
    ratio = median(letter_size(line) for line in draft.lines) / max(body.size, 1.0)
    titled = any(
        r.kind is RegionKind.TITLE and r.score > 0.5 and draft.box.inside(r.box) > 0.6
        for r in regions
    )
    bold = not body.bold and all(line.bold for line in draft.lines)
    sentence = text[-1] in ".,;\u3002\uff0c" and len(text) > 60
    depth = _depth(text)
    if sentence or text[0].islower():
        return None
    if ratio > 1.18 or titled or bold or (depth and len(text) < 80 and text[-1] not in ".,;:"):
        return depth or _level(ratio)
    return None


def _depth(text: str) -> int | None:
    """Depth of a numbered heading: ``2.1 Method`` has 2."""
    if found := _NUMBERED.match(text):
        return min(found[1].count(".") + 1, 6)
    return 1 if _ROMAN.match(text) or _NAMED.match(text) else None


def _level(ratio: float) -> int:
    if ratio > 1.6:
        return 1
    return 2 if ratio > 1.25 else 3
