"""From what a layout model wrote to blocks with confidence.

Owns the step between engines that answer with layout HTML and the parser, which must not know each
other. Never talks to a model.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import replace

from moonpress.document import LayoutReply, PageReading, PageStatus
from moonpress.parsing import parse_layout


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
    if status is PageStatus.OK and not blocks:
        status = PageStatus.BLANK
    problems = (*reading.problems, *parser.problems)
    return replace(reading, blocks=blocks, layout=None, status=status, problems=problems)


def _confidence(reply: LayoutReply, start: int, end: int) -> float | None:
    """Geometric mean over the tokens that end inside ``html[start:end]``."""
    first = bisect_right(reply.token_ends, start)
    last = bisect_left(reply.token_ends, end + 1)
    values = reply.token_logprobs[first:last]
    return math.exp(sum(values) / len(values)) if values else None
