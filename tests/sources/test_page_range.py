"""Page selections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpress.errors import PageRangeError
from moonpress.sources.page_range import select_pages


@pytest.mark.parametrize(
    ("selection", "count", "pages"),
    [
        (None, 3, (1, 2, 3)),
        ("2", 3, (2,)),
        ("1-3,7,-1", 9, (1, 2, 3, 7, 9)),
        ("-1", 5, (5,)),
        ("5-", 7, (5, 6, 7)),
        ("-3--1", 10, (8, 9, 10)),
        ("2--1", 4, (2, 3, 4)),
        ("-2-", 4, (3, 4)),
        ("7,1-3,2", 9, (7, 1, 2, 3)),
        (" 1 - 2 , 3 ", 3, (1, 2, 3)),
        ("3-3", 3, (3,)),
    ],
)
def test_selections(selection: str | None, count: int, pages: tuple[int, ...]) -> None:
    assert select_pages(selection, count) == pages


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ("99", "there is no page 99: the document has 3 pages"),
        ("1-99", "there is no page 99"),
        ("-4", "there is no page -4"),
        ("0", "there is no page 0"),
        ("0-2", "there is no page 0"),
        ("3-1", "ends before it begins"),
        ("", 'cannot read ""'),
        ("1,", 'cannot read ""'),
        ("one", 'cannot read "one"'),
        ("1-2-3", 'cannot read "1-2-3"'),
        ("1.5", 'cannot read "1.5"'),
        ("-", 'cannot read "-"'),
        ("--1", 'cannot read "--1"'),
        ("٣", 'cannot read "٣"'),
        ("1\n2", "cannot read"),
        ("9" * 500, "cannot read"),
    ],
)
def test_nonsense_is_one_line_with_the_remedy(selection: str, message: str) -> None:
    with pytest.raises(PageRangeError) as caught:
        select_pages(selection, 3)
    line = str(caught.value)
    assert message in line
    assert "--pages 1-3,7,-1" in line
    assert "\n" not in line
    assert len(line) < 400


def test_one_page_is_not_called_pages() -> None:
    with pytest.raises(PageRangeError, match=r"has 1 page\."):
        select_pages("2", 1)


@given(st.text("0123456789,- ", max_size=12), st.integers(1, 20))
def test_any_text_gives_pages_of_the_document_once_or_the_error(text: str, count: int) -> None:
    try:
        pages = select_pages(text, count)
    except PageRangeError:
        return
    assert pages
    assert len(set(pages)) == len(pages)
    assert set(pages) <= set(range(1, count + 1))
