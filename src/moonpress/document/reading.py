"""What an engine hands back for one page.

Owns `PageReading`. Never assigns document-wide facts: heading levels over the whole document and
links are added by the pipeline's passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from moonpress.document.blocks import Block
from moonpress.document.document import Agreement, PageStatus, Problem, Usage


@dataclass(frozen=True, slots=True)
class LayoutReply:
    """What a layout model wrote for a page, not yet parsed: engines do not know the parser.

    Attributes:
        html: As the model wrote it, as far as it is to be used.
        scale: What its box coordinates count up to, such as 1000.
        token_ends: For each token the index in ``html`` after its last character, rising.
        token_logprobs: The natural logarithm of each token's probability; empty when not asked for.
    """

    html: str
    scale: float
    token_ends: tuple[int, ...] = ()
    token_logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class PageReading:
    """An engine's reading of one page.

    Attributes:
        blocks: In reading order, boxes relative to the `PageImage` as it was given (not turned).
        layout: Instead of ``blocks``, from engines that run a layout model; the pipeline parses it.
        status: ok, partial or blank; an engine that cannot read the page raises instead.
        rotation: Degrees clockwise (0, 90, 180, 270) by which the engine turned the picture.
        problems: What is doubtful.
        usage: What it cost.
        agreement: With the page's text layer; ``None`` where they were not compared.
    """

    blocks: tuple[Block, ...] = ()
    layout: LayoutReply | None = None
    status: PageStatus = PageStatus.OK
    rotation: int = 0
    problems: tuple[Problem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    agreement: Agreement | None = None
