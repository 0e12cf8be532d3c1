"""Bibliographies and tables of contents, where a page shows them plainly.

Owns recognising them on one page. Never follows them over pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft
from moonpress.engines.embedded.markup import element
from moonpress.engines.embedded.types import Region, RegionKind

_TITLE = re.compile(
    r"^(?:[\dIVX]+\.?\s*)?(?:references|bibliography|literature cited|works cited|literatur|"
    r"literaturverzeichnis|r\u00e9f\u00e9rences|bibliographie|referencias|bibliograf\u00eda|"
    r"\u53c2\u8003\u6587\u732e)\W*$",
    re.IGNORECASE,
)
_LEADER = re.compile(r"(?:\s*[.\u2026\u00b7]){4,}\s*")
_ENTRY = re.compile(r"(?:[.\u2026\u00b7]\s*){4,}(?:\d{1,4}|[ivxlc]{1,7})$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b")
_RUNNING = (BlockKind.TEXT, BlockKind.LIST)


def mark_references(drafts: Sequence[Draft], regions: Sequence[Region]) -> list[Draft]:
    """The drafts in reading order, with bibliographies and contents named as such."""
    result: list[Draft] = []
    listing = False
    for draft in drafts:
        if draft.kind is BlockKind.HEADING:
            listing = bool(_TITLE.match(draft.text))
        if draft.kind not in _RUNNING:
            result.append(draft)
        elif _is_contents(draft):
            result.append(replace(draft, kind=BlockKind.CONTENTS, html=_contents_html(draft)))
        elif listing or any(_covers(region, draft) for region in regions):
            result.append(replace(draft, kind=BlockKind.BIBLIOGRAPHY))
        else:
            result.append(draft)
    return result


def _covers(region: Region, draft: Draft) -> bool:
    """Whether the model takes the draft for references, and it names a year and several people."""
    reference = region.kind is RegionKind.REFERENCE and region.score > 0.6
    likely = bool(_YEAR.search(draft.text)) and draft.text.count(",") > 1
    return reference and likely and draft.box.inside(region.box) > 0.7


def _is_contents(draft: Draft) -> bool:
    entries = sum(bool(_ENTRY.search(text)) for text in draft.row_texts)
    return entries >= 2 and entries >= 0.5 * len(draft.rows)


def _contents_html(draft: Draft) -> str:
    """One item an entry; the dots that lead to the page number are cut short."""
    texts = [_LEADER.sub(" \u2026 ", text) for text in draft.row_texts]
    return "<ul>" + "".join(element("li", text) for text in texts) + "</ul>"
