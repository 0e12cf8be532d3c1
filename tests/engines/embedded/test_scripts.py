"""Chinese look-alikes in Western text are repaired; Eastern text is left alone."""

from __future__ import annotations

import pytest

from moonpress.engines.embedded.scripts import settle_scripts, to_western
from moonpress.engines.embedded.types import Box, Line, Word


def _line(text: str, confidence: float = 0.9) -> Line:
    box = Box(0, 0, 100, 10)
    return Line(box, text, confidence, words=tuple(Word(box, w) for w in text.split()))


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("pages 10一12", "pages 10-12"),
        ("yes，no（maybe）：", "yes,no(maybe):"),
        ("10％ of １２", "10% of 12"),
        ("十 of them", "of them"),
        ("naïve – fine", "naïve – fine"),
    ],
)
def test_western_text(read: str, meant: str) -> None:
    assert to_western(read) == meant


def test_a_western_page_loses_stray_signs_in_lines_and_words() -> None:
    lines = settle_scripts([_line("some ordinary words here"), _line("a 一 b"), _line("口十", 0.5)])
    assert [line.text for line in lines] == ["some ordinary words here", "a - b", "□"]
    assert [w.text for w in lines[1].words] == ["a", "-", "b"]


def test_a_chinese_page_keeps_everything() -> None:
    lines = [_line("第一章　引言，概述"), _line("Chapter 1")]
    assert settle_scripts(lines) == tuple(lines)


def test_a_chinese_name_on_a_western_page_is_kept() -> None:
    page = [_line("words " * 40), _line("Author 王小明", 0.97)]
    assert settle_scripts(page)[1].text == "Author 王小明"
