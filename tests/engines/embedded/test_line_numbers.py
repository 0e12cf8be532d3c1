"""Numbers that count lines, against numbers that say something."""

from __future__ import annotations

from dataclasses import replace

from moonpress.engines.embedded.line_numbers import take_line_numbers
from moonpress.engines.embedded.types import Line
from tests.engines.embedded.pages import column, line

TEXT = "words of a patent in the first of columns"


def _lines() -> list[Line]:
    """Thirty lines; every fifth has its number at 560, and a second column begins at 600."""
    return [*column([TEXT] * 30, 100, 100), *column([TEXT] * 30, 600, 100)]


def _numbers(step: int = 5) -> list[Line]:
    return [line(str(n), 560, 100 + 26 * (n - 1)) for n in range(step, 31, step)]


def test_numbers_of_lines_are_taken() -> None:
    taken, rest = take_line_numbers([*_lines(), *_numbers()])
    assert [x.text for x in taken] == ["5", "10", "15", "20", "25", "30"]
    assert len(rest) == 60


def test_a_number_read_with_a_line_is_taken_off() -> None:
    lines = _lines()
    numbers = _numbers()
    fifth = numbers.pop(0)
    text = f"{TEXT} 5"
    lines[4] = replace(
        lines[4], text=text, box=lines[4].box.union(fifth.box), words=lines[4].words + fifth.words
    )
    lines[14] = replace(
        lines[14], text="10 October 15", words=line("10 October 15", 100, 464).words
    )
    _, rest = take_line_numbers([*lines, *numbers])
    assert rest[4].text == TEXT
    assert rest[4].box.x1 < 560
    assert rest[14].text == "10 October 15"


def test_other_numbers_stay() -> None:
    points = [line(str(n), 60, 100 + 60 * n) for n in range(1, 6)]
    assert take_line_numbers(points) == ((), tuple(points))
    prices = [line(t, 560, 100 + 26 * k) for k, t in enumerate(("12", "15", "40", "41", "90"))]
    assert take_line_numbers(prices) == ((), tuple(prices))
    downwards = [line(str(60 - 10 * n), 560, 100 + 26 * n) for n in range(6)]
    assert take_line_numbers(downwards) == ((), tuple(downwards))
