"""Heading levels over a whole document."""

from moonpress.document import BBox, Block, BlockKind, Page, PageStatus
from moonpress.pipeline.headings import level_headings


def page(number: int, *headings: tuple[str, float | None]) -> Page:
    blocks = tuple(
        Block(
            id=f"p{number}-b{k}",
            kind=BlockKind.HEADING,
            bbox=BBox(0.1, 0.1 * k, 0.9, 0.1 * k + 0.05),
            html=f"<h2>{text}</h2>",
            level=2,
            font_size=size,
        )
        for k, (text, size) in enumerate(headings, start=1)
    )
    return Page(number=number, size=None, status=PageStatus.OK, blocks=blocks)


def levels(*pages: Page) -> list[int | None]:
    return [block.level for p in level_headings(pages) for block in p.blocks]


def test_title_then_numbered_sections_over_pages() -> None:
    first = page(1, ("A study of things", 20), ("1 Introduction", 12), ("1.1 Scope", 12))
    second = page(2, ("2. Method", 12), ("2.1.3 Detail", 10), ("References", 12))
    assert levels(first, second) == [1, 2, 3, 2, 4, 2]


def test_unnumbered_sizes_rank_over_the_whole_document() -> None:
    assert levels(page(1, ("Part", 18), ("Chapter", 14)), page(2, ("Part two", 18))) == [1, 2, 1]


def test_sizes_that_differ_by_measuring_error_are_one_level() -> None:
    assert levels(page(1, ("One", 14.0), ("Two", 13.6), ("Three", 14.2))) == [1, 1, 1]


def test_unnumbered_heading_smaller_than_numbered_is_deeper() -> None:
    found = levels(page(1, ("1 Results", 14), ("An aside", 11), ("2 Outlook", 14)))
    assert found == [1, 2, 1]


def test_levels_stop_at_six_and_the_tag_follows() -> None:
    (leveled,) = level_headings([page(1, ("1.1.1.1.1.1.1.1 Deep", 10), ("1 Top", 10))])
    assert leveled.blocks[0].level == 6
    assert leveled.blocks[0].html == "<h6>1.1.1.1.1.1.1.1 Deep</h6>"


def test_engines_that_level_themselves_are_left_alone() -> None:
    before = page(1, ("Anything", None))
    assert level_headings([before]) == (before,)


def test_a_year_or_plain_words_are_no_numbering() -> None:
    assert levels(page(1, ("Review", 14), ("2024 in numbers", 14))) == [1, 1]
