"""Tables: where they are on a page, and what is in their cells.

Owns the stage's front: it chooses between ways of reading and writes the result. Never makes
blocks: `reader` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.document import Problem, TextOrigin
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.table_cells import fill, tokens_in
from moonpress.engines.embedded.table_grid import build, scene_of
from moonpress.engines.embedded.table_html import cell_text, header_rows, to_html
from moonpress.engines.embedded.table_rules import (
    Rules,
    rules_in_pixels,
    rules_of,
    rules_within,
    tolerance_of,
)
from moonpress.engines.embedded.types import Box, Region, RegionKind, UprightPage


@dataclass(frozen=True, slots=True)
class TableReading:
    """A table that was read.

    Attributes:
        html: ``<table>`` with colspan and rowspan, ``<thead>`` and ``<th>`` where a header is
            evident, text escaped, ``<br>`` where a break within a cell is meant.
        box: In pixels of the upright picture; around all lines used.
        lines: Indexes of the lines of the page whose text is in the table.
        confidence: 0 to 1.
        problems: What is doubtful.
    """

    html: str
    box: Box
    lines: tuple[int, ...]
    confidence: float
    problems: tuple[Problem, ...] = ()


class TableStage:
    """Finds and reads tables; loads its model on first need."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._settings = settings

    def find(self, page: UprightPage, regions: Sequence[Region]) -> list[Region]:
        """Table regions of ``page``: those of ``regions`` that hold, and others found here."""
        return [r for r in regions if r.kind is RegionKind.TABLE and self.read(page, r)]

    def read(self, page: UprightPage, region: Region) -> TableReading | None:
        """Read the table in ``region``; ``None`` where its words make no table."""
        tokens = tokens_in(page.lines, region.box)
        if not tokens:
            return None
        tolerance = tolerance_of(page.width)
        rules = rules_within(self._rules(page), region.box, tolerance)
        scene = scene_of(region.box, tokens, rules, tolerance)
        grid = build(scene)
        if grid is None:
            return None
        filled = fill(grid, tokens)
        texts = [cell_text(c, t) for c, t in zip(grid.cells, filled, strict=True)]
        bold = [bool(t) and all(w.bold for w in t) for t in filled]
        return TableReading(
            html=to_html(grid, texts, header_rows(grid, texts, bold)),
            box=scene.box,
            lines=tuple(sorted({t.line for t in tokens})),
            confidence=1.0,
        )

    def _rules(self, page: UprightPage) -> Rules:
        tolerance = tolerance_of(page.width)
        if page.rulings or page.origin is TextOrigin.TEXT_LAYER:
            return rules_of(page.rulings, tolerance)
        return rules_of(rules_in_pixels(page.pixels), tolerance)
