"""The layout model on a generated page."""

from __future__ import annotations

from moonpress.document import BlockKind
from moonpress.engines.embedded.layout import LayoutModel
from moonpress.engines.embedded.types import Box, RegionKind, UprightPage
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.engines.embedded.pages import page
from tests.generators import structures


def test_a_figure_is_found_where_it_is() -> None:
    generated = structures.figure()
    source = open_source(generated.pdf, name="test", password=None)
    image = source.page(1, RenderRequest(dpi=200, max_pixels=8_000_000))
    source.close()
    upright = UprightPage(pixels=image.pixels, page_size=image.size, lines=())
    (truth,) = generated.of_kind(BlockKind.FIGURE)
    box = Box(*(float(v) for v in truth.bbox.to_pixels(upright.width, upright.height)))
    regions = LayoutModel(1).find(upright)
    figures = [r for r in regions if r.kind is RegionKind.FIGURE]
    assert max(r.box.overlap(box) / r.box.union(box).area for r in figures) > 0.7
    assert all(0.4 < r.score <= 1 for r in regions)
    assert all(r.box.x1 <= upright.width and r.box.y1 <= upright.height for r in regions)


def test_an_empty_page_has_no_regions() -> None:
    assert LayoutModel(1).find(page([])) == ()
