"""What an engine hands back for one page.

Owns `PageReading`. Never assigns document-wide facts: heading levels over the whole document and
links are added by the pipeline's passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from moonpress.document.blocks import Block
from moonpress.document.document import PageStatus, Problem, Usage


@dataclass(frozen=True, slots=True)
class PageReading:
    """An engine's reading of one page.

    Attributes:
        blocks: In reading order, boxes relative to the `PageImage` as it was given (not turned).
        status: ok, partial or blank; an engine that cannot read the page raises instead.
        rotation: Degrees clockwise (0, 90, 180, 270) by which the engine turned the picture.
        problems: What is doubtful.
        usage: What it cost.
    """

    blocks: tuple[Block, ...]
    status: PageStatus = PageStatus.OK
    rotation: int = 0
    problems: tuple[Problem, ...] = ()
    usage: Usage = field(default_factory=Usage)
