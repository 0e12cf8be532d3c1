"""Hyperlinks of the source restored on the blocks that they lie on.

Owns the pass that gives each link annotation to one block. Never changes a block's HTML: outputs
write the link where its words stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from moonpress.document import BBox, Block, Link, PageImage, TextLayer


def attach_links(blocks: Sequence[Block], image: PageImage) -> tuple[Block, ...]:
    """Attach every link of the page to the block that covers most of it.

    Links that lie on no block are left out: there is nothing to click.
    """
    found: dict[str, list[Link]] = {}
    for link in image.links:
        block = max(blocks, key=lambda b: b.bbox.intersection(link.bbox), default=None)
        if block is None or block.bbox.intersection(link.bbox) <= 0:
            continue
        found.setdefault(block.id, []).append(_named(link, image))
    return tuple(
        replace(block, links=(*block.links, *found[block.id])) if block.id in found else block
        for block in blocks
    )


class LinksAsWritten:
    """Attaches links to blocks while a page is being written, as `attach_links` will in the end.

    A link surely belongs to the first block that covers all of it. A block that covers a part of
    one has to wait for the end of the page, because a later one may cover more, and so do those
    after it.

    Args:
        image: The page.
    """

    def __init__(self, image: PageImage) -> None:
        self._image = image
        self._free = list(image.links)
        self._waiting = False

    def attach(self, block: Block) -> Block | None:
        """The next block with its links; ``None`` when they are known at the end only."""
        touched = [link for link in self._free if block.bbox.intersection(link.bbox) > 0]
        if any(block.bbox.intersection(link.bbox) < link.bbox.area for link in touched):
            self._waiting = True
        if self._waiting:
            return None
        self._free = [link for link in self._free if link not in touched]
        named = [_named(link, self._image) for link in touched]
        return replace(block, links=(*block.links, *named)) if named else block


def _named(link: Link, image: PageImage) -> Link:
    return replace(link, text=link.text or _text_under(link.bbox, image.text_layer))


def _text_under(box: BBox, layer: TextLayer | None) -> str:
    """Characters whose centre lies in ``box``, in content order."""
    if layer is None or not len(layer):
        return ""
    x = (layer.boxes[:, 0] + layer.boxes[:, 2]) / 2
    y = (layer.boxes[:, 1] + layer.boxes[:, 3]) / 2
    inside = (x >= box.x0) & (x <= box.x1) & (y >= box.y0) & (y <= box.y1)
    indexes = np.flatnonzero(inside)
    if not len(indexes):
        return ""
    return " ".join("".join(layer.text[i] for i in indexes).split())
