"""Reads a page from pixels to blocks, inside one process.

Owns the sequence of the stages, and what a reading reports of itself. Never starts processes and
never reads files.
"""

from __future__ import annotations

import time
from dataclasses import replace

from moonpress.document import (
    Block,
    BlockKind,
    PageImage,
    PageReading,
    PageStatus,
    Problem,
    Usage,
)
from moonpress.engines.embedded.checkboxes import mark_boxes
from moonpress.engines.embedded.layout import LayoutModel
from moonpress.engines.embedded.prepare import TextStage
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.structure import build_blocks
from moonpress.engines.embedded.tables import TableStage
from moonpress.engines.embedded.types import UprightPage


class PageReader:
    """Reads pages one after the other; holds the models.

    Args:
        settings: What the user chose.
    """

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._text = TextStage(settings)
        self._layout = LayoutModel(settings.threads)
        self._tables = TableStage(settings)

    def read(self, image: PageImage) -> PageReading:
        """Read one page."""
        wall, cpu = time.monotonic(), time.process_time()
        page = mark_boxes(self._text.prepare(image))
        blocks: tuple[Block, ...] = ()
        problems = page.problems
        if not page.blank:
            blocks, found = self._blocks(page, image.number)
            problems += found
        return PageReading(
            blocks=blocks,
            status=PageStatus.OK if blocks else PageStatus.BLANK,
            rotation=page.turn.quarter,
            problems=problems,
            usage=Usage(
                engine="embedded",
                seconds=time.monotonic() - wall,
                cpu_seconds=time.process_time() - cpu,
            ),
        )

    def _blocks(
        self, page: UprightPage, number: int
    ) -> tuple[tuple[Block, ...], tuple[Problem, ...]]:
        """Blocks of the page and what is doubtful about its tables."""
        regions = self._layout.find(page)
        tried = [self._tables.read(page, region) for region in self._tables.find(page, regions)]
        tables = [table for table in tried if table is not None]
        blocks = build_blocks(page, regions, tables, number)
        ids = {block.html: block.id for block in blocks if block.kind is BlockKind.TABLE}
        problems = [
            replace(problem, block_id=ids.get(table.html))
            for table in tables
            for problem in table.problems
        ]
        return blocks, tuple(problems)
