"""Reads a page from pixels to blocks, inside one process.

Owns the sequence of the stages, and what a reading reports of itself. Never starts processes and
never reads files.
"""

from __future__ import annotations

import time

from moonpress.document import PageImage, PageReading, PageStatus, Usage
from moonpress.engines.embedded.layout import LayoutModel
from moonpress.engines.embedded.prepare import TextStage
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.structure import build_blocks
from moonpress.engines.embedded.tables import TableStage


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
        page = self._text.prepare(image)
        regions = self._layout.find(page)
        found = self._tables.find(page, regions)
        tables = [
            reading for region in found if (reading := self._tables.read(page, region)) is not None
        ]
        blocks = build_blocks(page, regions, tables, image.number)
        return PageReading(
            blocks=blocks,
            status=PageStatus.OK if blocks else PageStatus.BLANK,
            rotation=page.turn.quarter,
            problems=page.problems,
            usage=Usage(
                engine="embedded",
                seconds=time.monotonic() - wall,
                cpu_seconds=time.process_time() - cpu,
            ),
        )
