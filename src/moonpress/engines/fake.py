"""An engine for fault tests: it does what a script says, page by page.

Owns scripted behaviour only. Never registered as an engine that users can name, never used to
claim that reading works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from moonpress.document import BBox, Block, BlockKind, PageImage, PageReading, Usage

Action = Callable[[PageImage], PageReading]


@dataclass(slots=True)
class FakeEngine:
    """Reads pages by a script.

    Attributes:
        capacity: Pages in flight.
        delay: Seconds that each page takes.
        failures: Exception to raise, by page number.
        actions: What to answer instead of one text block, by page number.
        on_read: Called when a page arrives.
        in_flight: Pages being read now.
        most_in_flight: The most that were.
        closed: Whether `aclose` was called.
    """

    capacity: int = 1
    delay: float = 0.0
    failures: Mapping[int, Exception] = field(default_factory=dict)
    actions: Mapping[int, Action] = field(default_factory=dict)
    on_read: Callable[[], None] = lambda: None
    in_flight: int = 0
    most_in_flight: int = 0
    closed: bool = False
    name: str = "fake"

    async def read(self, image: PageImage) -> PageReading:
        """Do what the script says for this page."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.on_read()
        try:
            await anyio.sleep(self.delay)
            if image.number in self.failures:
                raise self.failures[image.number]
            if image.number in self.actions:
                return self.actions[image.number](image)
            return PageReading(
                blocks=(
                    Block(
                        id=f"p{image.number}-b1",
                        kind=BlockKind.TEXT,
                        bbox=BBox(0.1, 0.1, 0.9, 0.2),
                        html=f"<p>Page {image.number}</p>",
                    ),
                ),
                usage=Usage(engine=self.name),
            )
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True
