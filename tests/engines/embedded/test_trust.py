"""A doubtful text layer is compared with what the picture says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.trust import Comparison, compare
from moonpress.engines.embedded.types import Box, Line
from moonpress.engines.text_trust import Judgement, Trust

PROSE = "The quick brown fox jumps over the lazy dog near the old river bank"


def _lines(text: str) -> list[Line]:
    return [Line(Box(0, 20 * n, 400, 20 * n + 10), text) for n in range(12)]


@pytest.mark.parametrize(
    ("seen", "confidence", "hidden", "verdict"),
    [
        (PROSE, 0.98, True, True),
        (PROSE.replace("o", "0").replace("e", "c"), 0.98, True, False),
        (PROSE.replace("o", "0").replace("e", "c"), 0.98, False, True),
        ("something else altogether", 0.98, False, False),
        # The recogniser is at a loss itself: no reason to distrust drawn text.
        ("something else altogether", 0.4, False, True),
    ],
)
def test_agreement_with_what_is_seen(
    seen: str, confidence: float, hidden: bool, verdict: bool
) -> None:
    asked: list[int] = []

    def read(lines: Sequence[Line]) -> list[Reading]:
        asked.append(len(lines))
        return [Reading(seen, confidence, ()) for _ in lines]

    judgement = Judgement(Trust.DOUBTFUL, "is invisible", hidden)
    assert compare(_lines(PROSE), judgement, read).agrees is verdict
    assert asked == [4]


def test_scripts_that_cannot_be_read_are_not_compared() -> None:
    def read(lines: Sequence[Line]) -> list[Reading]:
        raise AssertionError("nothing to compare")

    judgement = Judgement(Trust.DOUBTFUL, "is invisible", hidden=True)
    assert compare(_lines("Все люди рождаются"), judgement, read) == Comparison(agrees=True)


@pytest.mark.parametrize(
    ("confidence", "others", "legible"), [(0.98, 2, True), (0.8, 2, False), (0.98, 40, False)]
)
def test_pages_that_can_be_read_anew(confidence: float, others: int, legible: bool) -> None:
    """Those in a script that the recogniser knows, when it is sure of it."""

    def read(lines: Sequence[Line]) -> list[Reading]:
        return [Reading(PROSE, confidence, ()) for _ in lines]

    judgement = Judgement(Trust.DOUBTFUL, "is invisible", hidden=True)
    lines = _lines(PROSE) + (_lines("Все люди рождаются") * 4)[:others]
    assert compare(lines, judgement, read) == Comparison(agrees=True, legible=legible)
