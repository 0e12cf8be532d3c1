"""Text layers that lie are found out, honest ones cost nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from moonpress.document import TextLayer
from moonpress.engines.text_trust import Trust, judge
from tests.engines.embedded.layers import LayerWriter

PROSE = "The quick brown fox jumps over the lazy dog near the old river bank"


def _layer(text: str = PROSE, rows: int = 10) -> TextLayer:
    writer = LayerWriter(size=10)
    for row in range(rows):
        writer.put(text, 50, 100 + 14 * row)
        writer.line_break()
    return writer.layer()


def test_ordinary_text_is_good() -> None:
    assert judge(_layer(), 0.0).trust is Trust.GOOD


def test_russian_and_arabic_are_good() -> None:
    assert judge(_layer("Все люди рождаются свободными и равными"), 0.0).trust is Trust.GOOD
    assert judge(_layer("يولد جميع الناس أحرارا متساوين"), 0.0).trust is Trust.GOOD


@pytest.mark.parametrize(
    "text", ["\ufffd\ufffd\ufffd abc", "\ue010\ue011\ue012\ue013 ab", "(cid:12)"]
)
def test_characters_without_meaning_are_bad(text: str) -> None:
    judgement = judge(_layer(text), 0.0)
    assert judgement.trust is Trust.BAD
    assert "no meaning" in judgement.reason


def test_known_symbols_of_the_private_use_area_are_good() -> None:
    assert judge(_layer("\uf0b7 " + PROSE), 0.0).trust is Trust.GOOD


def test_shifted_letters_are_doubtful() -> None:
    shifted = "".join(chr(ord(c) + 3) if c.isalpha() else c for c in PROSE.lower())
    consonants = shifted.translate(str.maketrans("aeiouy", "bcdfgh"))
    assert judge(_layer(consonants), 0.0).trust is Trust.DOUBTFUL


def test_hidden_text_and_text_on_a_picture_of_the_page_are_doubtful() -> None:
    layer = _layer()
    hidden = replace(layer, invisible=np.ones(len(layer), dtype=np.bool_))
    assert judge(hidden, 0.0).trust is Trust.DOUBTFUL
    assert judge(hidden, 0.0).hidden
    assert judge(layer, 0.95).trust is Trust.DOUBTFUL


def test_characters_on_top_of_each_other_are_doubtful() -> None:
    layer = _layer()
    boxes = layer.boxes.copy()
    boxes[:, 0] = np.round(boxes[:, 0], 2)
    boxes[:, 2] = boxes[:, 0] + 0.02
    boxes[1::2] += 0.0005
    assert judge(replace(layer, boxes=boxes), 0.0).trust is Trust.DOUBTFUL
