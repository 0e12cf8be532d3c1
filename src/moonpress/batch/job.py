"""One document on its way through a run.

Owns counting its pages out. Never reads, draws or writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from moonpress.batch.entry import Entry
from moonpress.document import PageImage
from moonpress.outputs.figures import FigureCrops


@dataclass(slots=True, eq=False)
class Job:
    """A document that is open, or has pages in flight.

    Attributes:
        entry: As the ledger had it when it was opened.
        crops: Where its figures go.
        left: Pages that have not come out yet.
    """

    entry: Entry
    crops: FigureCrops | None
    left: int

    def page_out(self) -> bool:
        """Count a page out; whether it was the last."""
        self.left -= 1
        return self.left == 0


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPage:
    """A page that waits for a reader.

    Attributes:
        job: Its document.
        position: Its place in the document's selection, from 0.
        image: Its picture.
    """

    job: Job
    position: int
    image: PageImage
