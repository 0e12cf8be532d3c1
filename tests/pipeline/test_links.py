"""Links of a PDF page find the block that they lie on."""

import numpy as np

from moonpress.document import BBox, Block, BlockKind, Link, PageImage, PageSize, TextLayer
from moonpress.pipeline.links import attach_links


def layer(text: str) -> TextLayer:
    """One row of equally wide characters over the upper half of the page."""
    count = len(text)
    left = np.arange(count) / count
    boxes = np.stack([left, np.full(count, 0.1), left + 1 / count, np.full(count, 0.2)], axis=1)
    return TextLayer(
        text=text,
        boxes=boxes.astype(np.float32),
        sizes=np.full(count, 10, np.float32),
        fonts=(),
        font_ids=np.full(count, -1, np.int16),
        angles=np.zeros(count, np.int16),
        invisible=np.zeros(count, np.bool_),
    )


def block(number: int, box: BBox) -> Block:
    return Block(id=f"p1-b{number}", kind=BlockKind.TEXT, bbox=box, html="<p>x</p>")


def page(*links: Link) -> PageImage:
    return PageImage(
        number=1,
        picture=np.full((10, 10, 3), 255, np.uint8),
        size=PageSize(100, 100, 10, 10),
        text_layer=layer("see the site"),
        links=links,
    )


UPPER = block(1, BBox(0, 0, 1, 0.5))
LOWER = block(2, BBox(0, 0.5, 1, 1))


def test_a_link_goes_to_the_block_under_most_of_it_with_its_words() -> None:
    link = Link("https://example.org", BBox(8 / 12, 0.1, 1.0, 0.2))
    upper, lower = attach_links((UPPER, LOWER), page(link))
    assert [(found.href, found.text) for found in upper.links] == [("https://example.org", "site")]
    assert lower.links == ()


def test_a_link_on_no_block_is_left_out() -> None:
    link = Link("https://example.org", BBox(0.1, 0.6, 0.2, 0.7))
    assert attach_links((UPPER,), page(link)) == (UPPER,)


def test_words_that_the_source_knows_are_kept() -> None:
    link = Link("#p7", BBox(0.0, 0.1, 0.5, 0.2), text="given")
    (upper,) = attach_links((UPPER,), page(link))
    assert upper.links[0].text == "given"
