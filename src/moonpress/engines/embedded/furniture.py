"""Page headers, footers and page numbers.

Owns telling them from the body on one page. Never compares pages: what repeats over a document is
for the pipeline to see.
"""

from __future__ import annotations

from collections.abc import Sequence

from moonpress.document import BlockKind
from moonpress.engines.embedded.drafts import Draft
from moonpress.engines.embedded.types import Region, RegionKind

_TOP, _BOTTOM = 0.075, 0.93


def furniture_kind(draft: Draft, page_height: float, regions: Sequence[Region]) -> BlockKind | None:
    """Header or footer, or ``None`` for the body."""
    if len(draft.rows) > 3:
        return None
    for region in regions:
        if draft.box.inside(region.box) < 0.5:
            continue
        if region.kind is RegionKind.HEADER and draft.box.y1 < 0.15 * page_height:
            return BlockKind.PAGE_HEADER
        if region.kind is RegionKind.FOOTER and draft.box.y0 > 0.85 * page_height:
            return BlockKind.PAGE_FOOTER
    if draft.box.y1 < _TOP * page_height:
        return BlockKind.PAGE_HEADER
    if draft.box.y0 > _BOTTOM * page_height:
        return BlockKind.PAGE_FOOTER
    return None
