"""From what a layout model wrote to blocks with confidence.

Owns the step between engines that answer with layout HTML and the parser, which must not know each
other. Never talks to a model.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from moonpress.document import (
    Block,
    BlockKind,
    LayoutReply,
    PageReading,
    PageStatus,
    Problem,
    ProblemCode,
)
from moonpress.parsing import LayoutParser, parse_layout

# Of a token, on average; clear print gets well over nine tenths.
_UNSURE = 0.7


def with_blocks(reading: PageReading, page_number: int) -> PageReading:
    """The reading with its layout HTML parsed into blocks; others are returned as they are.

    A block's confidence is the geometric mean of the probabilities of the tokens that its content
    was written with.
    """
    reply = reading.layout
    if reply is None:
        return reading
    parser = parse_layout(reply.html, page_number=page_number, scale=reply.scale)
    blocks = tuple(
        replace(block, confidence=_confidence(reply, start, end))
        for block, (start, end) in zip(parser.blocks, parser.spans, strict=True)
    )
    status = reading.status
    if status is PageStatus.OK and all(block.kind is BlockKind.BLANK for block in blocks):
        status = PageStatus.BLANK
    problems = (*reading.problems, *parser.problems, *_doubts(blocks))
    return replace(reading, blocks=blocks, layout=None, status=status, problems=problems)


class GrowingReply:
    """The blocks of a reply that is still being written, as they close.

    Args:
        page_number: 1-based.
    """

    def __init__(self, page_number: int) -> None:
        self._page = page_number
        self._parser: LayoutParser | None = None
        self._length = 0

    def grown(self, reply: LayoutReply) -> list[Block]:
        """The blocks that are new in ``reply``, which begins with what it was before."""
        if self._parser is None:
            self._parser = LayoutParser(page_number=self._page, scale=reply.scale)
        known = len(self._parser.blocks)
        self._parser.feed(reply.html[self._length :])
        self._length = len(reply.html)
        new = zip(self._parser.blocks[known:], self._parser.spans[known:], strict=True)
        return [replace(block, confidence=_confidence(reply, *span)) for block, span in new]


def _doubts(blocks: Iterable[Block]) -> Iterator[Problem]:
    for block in blocks:
        if block.confidence is not None and block.confidence < _UNSURE:
            message = f"the model gave its words a probability of {block.confidence:.0%} on average"
            yield Problem(ProblemCode.LOW_CONFIDENCE, message, block.id)


def _confidence(reply: LayoutReply, start: int, end: int) -> float | None:
    """Geometric mean over the tokens that end inside ``html[start:end]``."""
    first = bisect_right(reply.token_ends, start)
    last = bisect_left(reply.token_ends, end + 1)
    values = reply.token_logprobs[first:last]
    return math.exp(sum(values) / len(values)) if values else None
