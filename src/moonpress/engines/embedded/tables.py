"""Tables: where they are on a page, and what is in their cells.

Owns the stage's front: it weighs candidates, chooses between ways of reading and writes the result.
Never makes blocks: `reader` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moonpress.document import Problem, ProblemCode, TextOrigin
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.table_cells import fill
from moonpress.engines.embedded.table_html import cell_text, header_rows, to_html
from moonpress.engines.embedded.table_model import TableModel
from moonpress.engines.embedded.table_rules import (
    Rules,
    drawn,
    rules_in_pixels,
    rules_of,
    tolerance_of,
)
from moonpress.engines.embedded.table_score import fit
from moonpress.engines.embedded.table_search import TableSearch, attempt
from moonpress.engines.embedded.types import Box, Region, UprightPage

# Below the first fit the model is asked as well; its answer must be better by the second.
_DOUBTFUL, _MARGIN = 0.93, 0.03
_UNCERTAIN = 0.6


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
        self._model = TableModel(settings.threads)
        self._ruled: tuple[UprightPage, Rules] | None = None

    def find(self, page: UprightPage, regions: Sequence[Region]) -> list[Region]:
        """Table regions of ``page``: those of ``regions`` that hold, and others found here."""
        return TableSearch(page, self._rules(page)).run(regions)

    def read(self, page: UprightPage, region: Region) -> TableReading | None:
        """Read the table in ``region``; ``None`` where its words make no table."""
        tried = attempt(page, region.box, self._rules(page))
        if tried is None:
            return None
        grid, filled = tried.grid, tried.filled
        score = fit(grid, filled)
        if score < _DOUBTFUL:
            other = self._model.read(page.pixels, tried.scene.box)
            words = fill(other, tried.scene.tokens) if other else []
            if other and (better := fit(other, words)) > score + _MARGIN:
                grid, filled, score = other, words, better
        texts = [cell_text(c, t) for c, t in zip(grid.cells, filled, strict=True)]
        bold = [bool(t) and all(w.bold for w in t) for t in filled]
        return TableReading(
            html=to_html(grid, texts, header_rows(grid, texts, bold)),
            box=tried.scene.box,
            lines=tuple(sorted({t.line for t in tried.scene.tokens})),
            confidence=score,
            problems=() if score >= _UNCERTAIN else (_uncertain(score),),
        )

    def _rules(self, page: UprightPage) -> Rules:
        """Lines of the page, kept until the next page."""
        if self._ruled is None or self._ruled[0] is not page:
            boxes = drawn(page.rulings, page.pixels)
            covered = sum(p.area for p in page.pictures) > 0.5 * page.width * page.height
            if page.origin is not TextOrigin.TEXT_LAYER or covered:
                boxes += rules_in_pixels(page.pixels)
            self._ruled = (page, rules_of(boxes, tolerance_of(page.width)))
        return self._ruled[1]


def _uncertain(score: float) -> Problem:
    return Problem(
        ProblemCode.TABLE_UNCERTAIN,
        f"rows and columns of a table are doubtful (fit {score:.2f} of 1)",
    )
