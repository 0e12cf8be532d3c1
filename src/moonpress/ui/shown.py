"""A page as the browser shows it: markup, boxes, problems.

Owns the shape of what the page's script is given. Never decides how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from moonpress.document import BBox, Document, Page, RenderOptions
from moonpress.document.html import visible_text
from moonpress.outputs.html import blocks_html

_LONGEST_NAME = 80


def shown_page(
    page: Page, *, figures: Mapping[str, str], edited: AbstractSet[str]
) -> dict[str, Any]:
    """All that is shown of a page.

    Args:
        page: With edits.
        figures: Address of each figure's picture, by block id.
        edited: Ids of blocks that a person changed.
    """
    size = page.size
    return {
        "number": page.number,
        "status": page.status.value,
        "rotation": page.rotation,
        "width": None if size is None else size.width_px,
        "height": None if size is None else size.height_px,
        "engine": page.usage.engine,
        "seconds": round(page.usage.seconds, 2),
        "html": reading_html(page, figures),
        "problems": [
            {"code": one.code, "message": one.message, "block": one.block_id}
            for one in page.problems
        ],
        "blocks": [
            {
                "id": block.id,
                "kind": block.kind.value,
                "box": [round(at, 5) for at in _corners(block.bbox)],
                "confidence": None if block.confidence is None else round(block.confidence, 3),
                "origin": block.origin.value,
                "edited": block.id in edited,
                "text": visible_text(block.html)[:_LONGEST_NAME],
            }
            for block in page.blocks
        ],
    }


def reading_html(page: Page, figures: Mapping[str, str]) -> str:
    """The blocks of a page, each where it stands: what goes on from an earlier page too."""
    alone = replace(page, blocks=tuple(replace(block, continues=None) for block in page.blocks))
    return blocks_html(alone, RenderOptions(headers_footers=True, figures=figures))


def page_text(document: Document, number: int | None, form: str) -> str:
    """One page, or the whole document, in an output format.

    Raises:
        UnknownName: no output has this name.
    """
    pages = document.pages
    if number is not None:
        pages = tuple(page for page in pages if page.number == number)
    return replace(document, pages=pages).render(form, RenderOptions())


def _corners(box: BBox) -> tuple[float, float, float, float]:
    return box.x0, box.y0, box.x1, box.y1
