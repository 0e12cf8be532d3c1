"""Layout HTML of a model becomes blocks with confidence."""

import math

import pytest

from moonpress.document import LayoutReply, PageReading, PageStatus
from moonpress.pipeline.layout_reply import with_blocks

FIRST = '<div data-bbox="0 0 500 500" data-label="Text">sure</div>'
SECOND = '<div data-bbox="0 500 500 1000" data-label="Text">may be</div>'


def reply_of(*pieces: tuple[str, float]) -> LayoutReply:
    ends, text = [], ""
    for piece, _ in pieces:
        text += piece
        ends.append(len(text))
    return LayoutReply(text, 1000, tuple(ends), tuple(math.log(p) for _, p in pieces))


def test_confidence_is_the_geometric_mean_over_the_tokens_of_the_content() -> None:
    head, _, tail = SECOND.partition("may be")
    reply = reply_of((FIRST, 0.1), (head, 0.2), ("may", 0.9), (" be", 0.4), (tail, 0.3))
    blocks = with_blocks(PageReading(layout=reply), 1).blocks
    assert blocks[1].confidence == pytest.approx(math.sqrt(0.9 * 0.4))


def test_without_probabilities_there_is_no_confidence() -> None:
    reading = with_blocks(PageReading(layout=LayoutReply(FIRST, 1000)), 4)
    assert [(block.id, block.confidence) for block in reading.blocks] == [("p4-b1", None)]
    assert reading.layout is None


def test_problems_of_engine_and_parser_are_both_told() -> None:
    reading = with_blocks(PageReading(layout=LayoutReply("loose " + FIRST, 1000)), 1)
    assert [problem.code for problem in reading.problems] == ["text-outside-block"]


def test_a_reply_without_any_block_is_a_blank_page_only_if_the_engine_was_content() -> None:
    empty = LayoutReply("", 1000)
    assert with_blocks(PageReading(layout=empty), 1).status is PageStatus.BLANK
    partial = PageReading(layout=empty, status=PageStatus.PARTIAL)
    assert with_blocks(partial, 1).status is PageStatus.PARTIAL


def test_readings_with_blocks_pass_unchanged() -> None:
    reading = PageReading()
    assert with_blocks(reading, 1) is reading
