"""Holes in lines of a text layer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from moonpress.document import TextOrigin
from moonpress.engines.embedded.mending import fill_holes
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.types import Box, Line, Word


def _line(text: str) -> Line:
    words = tuple(
        Word(Box(40 * n, 0, 40 * n + 35, 10), word) for n, word in enumerate(text.split())
    )
    return Line(Box(0, 0, 400, 10), text, origin=TextOrigin.TEXT_LAYER, words=words)


def _fill(text: str, seen: str, confidence: float = 0.97) -> Line:
    def read(lines: Sequence[Line]) -> list[Reading]:
        return [Reading(seen, confidence, ()) for _ in lines]

    return fill_holes([_line(text)], read)[0]


@pytest.mark.parametrize(
    ("torn", "seen", "filled"),
    [
        ("a signi\ufffdcant e\ufffdect", "a significant effect", "a significant effect"),
        ("\ufffde kit", "The kit", "The kit"),
        (
            "mean \ufffd SD of 60.5 \ufffd 15.4",
            "mean ± SD of 60.5 ± 15.4",
            "mean ± SD of 60.5 ± 15.4",
        ),
        # What the layer knows is kept, however it is read.
        (
            "the colour of \ufffdre in rain",
            "the c0lour of fire in rain",
            "the colour of fire in rain",
        ),
        # The letters beside the hole are read otherwise: nobody knows what stands there.
        ("values of l\ufffd compared", "values of T compared", "values of l\ufffd compared"),
        # More than a ligature is missing.
        ("see the \ufffd below", "see the whole table below", "see the \ufffd below"),
    ],
)
def test_holes_are_filled_where_the_letters_around_agree(torn: str, seen: str, filled: str) -> None:
    line = _fill(torn, seen)
    assert line.text == filled
    assert " ".join(word.text for word in line.words) == filled
    assert line.origin is (TextOrigin.TEXT_LAYER if filled == torn else TextOrigin.MIXED)


def test_doubtful_readings_fill_nothing() -> None:
    assert _fill("a signi\ufffdcant effect", "a significant effect", 0.6).text.count("\ufffd") == 1


def test_formulas_and_whole_lines_are_not_read() -> None:
    def read(lines: Sequence[Line]) -> list[Reading]:
        assert not lines
        return []

    lines = [_line("L \ufffd dV\ufffdE2 8\ufffd \ufffd"), _line("all known")]
    assert fill_holes(lines, read) == tuple(lines)
