"""List markers and nested lists."""

from __future__ import annotations

import pytest

from moonpress.engines.embedded.lists import Item, list_html, marker_of


@pytest.mark.parametrize("text", ["\u2022 one", "- one", "1. one", "12) one", "(a) one", "iv. one"])
def test_markers(text: str) -> None:
    assert marker_of(text) is not None


@pytest.mark.parametrize(
    "text", ["one", "-1 degree", "1.5 litres", "2001. A year", "A. Smith", "e.g. x"]
)
def test_no_markers(text: str) -> None:
    assert marker_of(text) is None


def test_nesting_follows_the_indent() -> None:
    items = [Item("\u2022 a", 0), Item("\u2022 b", 40), Item("\u2022 c", 42), Item("\u2022 d", 1)]
    expected = "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>"
    assert list_html(items, 15) == expected


def test_numbers_are_kept_where_they_do_not_begin_at_one() -> None:
    assert list_html([Item("7. a", 0), Item("8. b", 0)], 15) == (
        '<ol start="7"><li>a</li><li>b</li></ol>'
    )


def test_a_gap_in_the_numbers_begins_a_new_list() -> None:
    html = list_html([Item("1. a", 0), Item("3. b", 0)], 15)
    assert html == '<ol><li>a</li></ol><ol start="3"><li>b</li></ol>'


def test_labels_that_html_cannot_count_stay_in_the_text() -> None:
    html = list_html([Item("(a) x < y", 0), Item("(b) z", 0)], 15)
    assert html == "<ul><li>(a) x &lt; y</li><li>(b) z</li></ul>"
