"""Large first letters of scanned paragraphs."""

from __future__ import annotations

from random import Random

import pytest

from moonpress.engines.embedded.initials import find_initials
from moonpress.engines.embedded.prepare import TextStage
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.structure import build_blocks
from moonpress.engines.embedded.types import Line
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.engines.embedded.pages import column, line, page
from tests.generators.page import GeneratedPage
from tests.generators.prose import PLAIN
from tests.generators.scans import as_scan
from tests.generators.words import english_paragraph
from tests.generators.writer import Frame, PageWriter

FULL = "eight words of text that fill the column"


def _page(letter: str) -> GeneratedPage:
    """A paragraph whose first letter is three rows high, and two without."""
    made, rng = PageWriter("initial"), Random(5)
    frame = made.frame()
    made.line(letter, frame.left, made.y - 4, PLAIN.sized(46))
    beside = Frame(frame.left + 44, made.y, frame.width - 44, made.y + 3 * PLAIN.leading)
    made.set_lines(
        "HE mill stood by the river and had not turned for " + "many long years " * 11,
        beside,
        PLAIN,
    )
    made.set_lines(english_paragraph(rng, 60), frame, PLAIN)
    made.y += 8
    made.set_lines(english_paragraph(rng, 80), frame, PLAIN)
    return made.finish()


@pytest.mark.parametrize("letter", ["T", "S"])
def test_a_scanned_initial_is_put_before_its_word(letter: str) -> None:
    source = open_source(as_scan(_page(letter)), name="initial", password=None)
    try:
        image = source.page(1, RenderRequest(dpi=200, max_pixels=25_000_000))
    finally:
        source.close()
    upright = TextStage(EmbeddedSettings(fast=True)).prepare(image)
    blocks = build_blocks(upright, (), (), 1)
    assert blocks[0].html.startswith(f"<p>{letter}HE mill stood by the river")


def _found(lines: list[Line], seen: str = "T", *, ink: bool = True) -> tuple[Line, ...]:
    made = page(lines)
    if ink:
        made.pixels[100:145, 105:140] = 0
    return find_initials(
        made.pixels, made.lines, lambda crops: [Reading(seen, 0.95, (0.5,)) for _ in crops]
    )


def _indented(rows: int) -> list[Line]:
    return [*column([FULL] * rows, 150, 100), *column([FULL] * 5, 100, 100 + 26 * rows)]


def test_where_a_letter_has_room() -> None:
    (found,) = _found(_indented(2))
    assert found.text == "T"
    assert tuple(found.box) == (105, 100, 140, 145)
    assert [word.text for word in found.words] == ["T"]


def test_what_is_no_initial() -> None:
    assert not _found(_indented(2), ink=False)
    assert not _found(_indented(2), "IT")
    assert not _found(_indented(2), "7")
    assert not _found(_indented(1))
    assert not _found(_indented(9))
    assert not _found([*_indented(2), line("T", 105, 110)])
    assert not _found(column([FULL] * 9, 150, 100))
