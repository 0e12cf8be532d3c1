"""The search for tables on one page: candidates are tried in order of trust.

Owns which candidate wins where several overlap. Never reads pixels or writes markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from moonpress.engines.embedded.table_cells import Grid, Token, fill, tokens_in
from moonpress.engines.embedded.table_find import (
    aligned_areas,
    grown_to_lines,
    ruled_areas,
    stacked_areas,
    widened,
)
from moonpress.engines.embedded.table_gate import (
    Evidence,
    holds_when_bare,
    holds_when_drawn,
    holds_when_open,
    holds_when_ruled,
    holds_when_stacked,
    weigh,
)
from moonpress.engines.embedded.table_grid import Scene, build, scene_of
from moonpress.engines.embedded.table_rules import Rules, rules_within, tolerance_of
from moonpress.engines.embedded.types import Box, Region, RegionKind, UprightPage

# How far a region is trusted by what it was found from; the layout model gives its own score.
_RULED, _STACKED, _ALIGNED = 0.95, 0.8, 0.6
_SHARED = 0.3
_KNOWN = 0.7
_SURE = 0.8  # score from which the layout model's figures are believed


class Attempt(NamedTuple):
    """A reading of some box as a table, good or not."""

    scene: Scene
    grid: Grid
    filled: list[list[Token]]
    evidence: Evidence


def attempt(page: UprightPage, box: Box, rules: Rules) -> Attempt | None:
    """Read the words in ``box`` as a table; ``None`` where there is nothing to part."""
    tokens = tokens_in(page.lines, box)
    near = tolerance_of(page.width)
    scene = scene_of(box, tokens, rules_within(rules, box, near), near)
    grid = build(scene)
    if grid is None:
        return None
    filled = fill(grid, tokens)
    return Attempt(scene, grid, filled, weigh(grid, filled))


class TableSearch:
    """Looks for tables on one page.

    Args:
        page: The page.
        rules: Its ruling lines.
    """

    def __init__(self, page: UprightPage, rules: Rules) -> None:
        self._page = page
        self._rules = rules
        self._near = tolerance_of(page.width)
        self._found: list[Region] = []
        self._figures: list[Box] = []

    def run(self, regions: Sequence[Region]) -> list[Region]:
        """All tables from the top down; ``regions`` are those of the layout model."""
        self._figures = [r.box for r in regions if r.kind is RegionKind.FIGURE]
        sure = [r.box for r in regions if r.kind is RegionKind.FIGURE and r.score > _SURE]
        for box in sorted(ruled_areas(self._rules, self._near), key=lambda b: -b.area):
            drawn = any(box.inside(figure) > 0.5 for figure in sure)
            self._add(box, _RULED, holds_when_drawn if drawn else holds_when_ruled)
        everything = tokens_in(self._page.lines, Box(0, 0, self._page.width, self._page.height))
        stacks = stacked_areas(self._rules, everything, self._near)
        for region in regions:
            if region.kind is RegionKind.TABLE:
                # What stands beside a table may be the labels of a chart.
                labels = [t for t in everything if not any(t.box.inside(f) > 0.5 for f in sure)]
                self._weigh(region, stacks, labels)
        for box in stacks:
            if not self._in_figure(box):
                self._add(box, _STACKED, holds_when_stacked)
        used = [r.box for r in self._found]
        free = [t for t in everything if not any(t.box.inside(box) > 0.5 for box in used)]
        for box in aligned_areas(free):
            if not self._in_figure(box):
                self._add(box, _ALIGNED, holds_when_bare)
        return sorted(self._found, key=lambda r: (r.box.y0, r.box.x0))

    def _add(self, box: Box, score: float, holds: Callable[[Evidence], bool]) -> bool:
        if self._overlapping(box):
            return False
        tried = attempt(self._page, grown_to_lines(box, self._page.lines), self._rules)
        if tried is None or not holds(tried.evidence):
            return False
        self._found.append(Region(RegionKind.TABLE, tried.scene.box, score))
        return True

    def _in_figure(self, box: Box) -> bool:
        """Axes and labels of a chart are aligned like tables."""
        return any(box.inside(figure) > 0.5 for figure in self._figures)

    def _overlapping(self, box: Box) -> list[Region]:
        return [r for r in self._found if r.box.overlap(box) > _SHARED * min(r.box.area, box.area)]

    def _weigh(self, region: Region, stacks: Sequence[Box], everything: Sequence[Token]) -> None:
        """Take a region of the layout model, with what it cuts through, or keep what lines say."""
        box, inside = region.box, self._overlapping(region.box)
        words = tokens_in(self._page.lines, box)
        known = sum(any(w.box.inside(r.box) > 0.5 for r in inside) for w in words)
        if inside and known >= _KNOWN * len(words):
            return
        for other in (*stacks, *(r.box for r in inside)):
            if other.overlap(box) > 0.5 * min(other.area, box.area):
                box = box.union(other)
        if not inside:
            box = widened(box, everything)
        for known_region in inside:
            self._found.remove(known_region)
        if not self._add(box, region.score, holds_when_open):
            self._found += inside
