"""Drop capitals go back in front of their word."""

from __future__ import annotations

from dataclasses import replace

from moonpress.engines.embedded.dropcaps import restore_drop_capitals
from moonpress.engines.embedded.types import Box
from tests.engines.embedded.pages import column, line


def test_the_letter_joins_the_first_line_beside_it() -> None:
    capital = replace(line("T", 0, 0), box=Box(0, 0, 60, 70), size=70)
    rest = column(["he motto of the cadets", "is shown under their", "badge, and so it is"], 65, 0)
    lines = restore_drop_capitals([*rest, capital])
    assert lines[0].text == "The motto of the cadets"
    assert len(lines) == 3
    assert {x.box.x0 for x in lines} == {0}


def test_a_letter_of_ordinary_size_stays() -> None:
    lines = [line("A", 0, 0), line("list entry beside it", 25, 0)]
    assert restore_drop_capitals(lines) == tuple(lines)
