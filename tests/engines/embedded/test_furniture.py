"""Headers and footers against the body."""

from __future__ import annotations

import pytest

from moonpress.engines.embedded.furniture import Furniture, find_furniture
from moonpress.engines.embedded.types import Box, Line, Region, RegionKind
from tests.engines.embedded.pages import column, line

FULL = "eight words of text that fill the column"
BODY = column([FULL] * 40, 100, 150)


def furniture(lines: list[Line], *regions: Region, rulings: tuple[Box, ...] = ()) -> Furniture:
    return find_furniture(lines, [], height=1400, body_size=20, regions=regions, rulings=rulings)


def test_running_title_and_page_number() -> None:
    top = [line("400", 100, 90), line("BRITISH HUSBANDRY", 250, 90)]
    found = furniture([*top, *BODY])
    assert [x.text for x in found.headers] == ["400", "BRITISH HUSBANDRY"]
    assert len(found.body) == len(BODY)


@pytest.mark.parametrize(
    "text", ["7", "- 7 -", "Page 7 of 12", "xiv", "Gen Dobry!, April \u2014 8"]
)
def test_page_numbers_at_the_foot(text: str) -> None:
    found = furniture([*BODY, line(text, 300, 1300)])
    assert [x.text for x in found.footers] == [text]


def test_a_large_title_is_no_header() -> None:
    title = line("The Title of a Paper", 100, 60, size=44)
    assert not furniture([title, *BODY]).headers


def test_a_page_of_running_text_from_edge_to_edge_has_none() -> None:
    lines = column([FULL] * 53, 100, 10)
    found = furniture(lines)
    assert not found.headers
    assert not found.footers


def test_the_layout_model_is_heard() -> None:
    first = line("Some words on top", 100, 110)
    lines = [first, *column([FULL] * 40, 100, 150)]
    assert not furniture(lines).headers
    mark = Region(RegionKind.HEADER, Box(90, 100, 600, 135), 0.9)
    assert [x.text for x in furniture(lines, mark).headers] == ["Some words on top"]


def test_everything_above_a_rule_across_the_page() -> None:
    top = [line("Food Act 2001", 100, 60), line("Part 2, Offences", 100, 86)]
    rule = Box(100, 112, 500, 113)
    assert len(furniture([*top, *BODY], rulings=(rule,)).headers) == 2


def test_a_stamp_up_the_margin() -> None:
    stamp = Line(box=Box(10, 200, 30, 900), text="arXiv:2503.04086v1", size=20)
    assert [x.text for x in furniture([stamp, *BODY]).footers] == [stamp.text]


def test_a_page_with_a_number_only_keeps_it_in_the_body_or_the_foot_once() -> None:
    found = furniture([line("12", 500, 1350)])
    assert len(found.headers) + len(found.footers) + len(found.body) == 1


@pytest.mark.parametrize("y", [60, 1330])
def test_words_that_stand_alone_are_the_text_of_their_page(y: float) -> None:
    found = furniture([line("This is page 1.", 100, y)])
    assert [x.text for x in found.body] == ["This is page 1."]
    assert not found.headers
    assert not found.footers


def test_a_page_number_that_stands_alone_is_no_text() -> None:
    assert not furniture([line("7", 300, 1330)]).body


def test_on_a_page_of_few_lines_numbers_take_their_titles_along() -> None:
    few = column([FULL] * 6, 100, 300)
    title = line("MINUTES OF THE MEETING", 250, 60)
    assert not furniture([title, *few]).headers
    numbered = furniture([title, line("31", 100, 60), *few])
    assert {x.text for x in numbered.headers} == {"31", title.text}
    goes_on = line("house, and went in.", 250, 60)
    found = furniture([goes_on, line("-7-", 100, 60), *few])
    assert [x.text for x in found.headers] == ["-7-"]
    assert goes_on in found.body


def test_notes_in_the_corners_of_a_page_of_few_lines() -> None:
    corners = [line("P/N 119", 60, 1320), line("10 June", 300, 1320), line("Revised", 440, 1320)]
    found = furniture([*column([FULL] * 6, 100, 300), *corners])
    assert len(found.footers) == 3
