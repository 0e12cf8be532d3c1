"""Reading order by geometry."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from moonpress.engines.embedded.order import reading_order
from moonpress.engines.embedded.types import Box

GUTTER = 10.0


def test_two_columns_under_a_title_are_read_one_after_the_other() -> None:
    title = Box(100, 0, 900, 50)
    left = [Box(0, 100, 480, 300), Box(0, 320, 480, 600)]
    right = [Box(520, 100, 1000, 250), Box(520, 270, 1000, 600)]
    boxes = [right[1], left[1], title, right[0], left[0]]
    assert reading_order(boxes, GUTTER) == [2, 4, 1, 3, 0]


def test_a_figure_across_both_columns_parts_the_page() -> None:
    upper = [Box(0, 0, 480, 200), Box(520, 0, 1000, 200)]
    figure = Box(0, 220, 1000, 500)
    lower = [Box(0, 520, 480, 900), Box(520, 520, 1000, 900)]
    assert reading_order([*lower, figure, *upper], GUTTER) == [3, 4, 2, 0, 1]


def test_columns_of_unequal_length_stay_columns() -> None:
    boxes = [Box(0, 0, 480, 900), Box(520, 0, 1000, 200), Box(520, 230, 1000, 400)]
    assert reading_order(boxes, GUTTER) == [0, 1, 2]


def test_a_break_between_paragraphs_at_one_height_is_no_row_of_a_grid() -> None:
    boxes = [
        Box(0, 0, 480, 200),
        Box(520, 0, 1000, 200),
        Box(0, 215, 480, 400),
        Box(520, 215, 1000, 400),
    ]
    assert reading_order(boxes, GUTTER) == [0, 2, 1, 3]


def test_cards_in_a_grid_are_read_row_by_row() -> None:
    boxes = [
        Box(0, 0, 480, 200),
        Box(500, 0, 1000, 200),
        Box(0, 280, 480, 400),
        Box(500, 280, 1000, 400),
    ]
    assert reading_order(boxes, GUTTER) == [0, 1, 2, 3]


def test_a_date_at_the_right_comes_before_the_address_below_it() -> None:
    date, address, salutation = Box(700, 0, 900, 20), Box(0, 60, 300, 80), Box(0, 120, 200, 140)
    assert reading_order([salutation, address, date], GUTTER) == [2, 1, 0]


def test_blocks_around_a_pinwheel_keep_their_neighbourhood() -> None:
    boxes = [
        Box(0, 0, 600, 200),
        Box(620, 0, 1000, 600),
        Box(0, 220, 380, 1000),
        Box(400, 620, 1000, 1000),
        Box(400, 220, 600, 600),
    ]
    order = reading_order(boxes, GUTTER)
    assert order.index(0) < order.index(2) < order.index(3)
    assert order.index(0) < order.index(4)


coordinates = st.floats(0, 1000, allow_nan=False)
spans = st.tuples(coordinates, coordinates, st.floats(0, 400), st.floats(0, 300))


@given(st.lists(spans, max_size=40))
def test_every_block_comes_exactly_once(items: list[tuple[float, float, float, float]]) -> None:
    boxes = [Box(x, y, x + w, y + h) for x, y, w, h in items]
    assert sorted(reading_order(boxes, GUTTER)) == list(range(len(boxes)))


def test_thousands_of_overlapping_blocks_take_bounded_time() -> None:
    boxes = [Box(k % 53 * 10, k % 47 * 10, k % 53 * 10 + 60, k % 47 * 10 + 60) for k in range(3000)]
    start = time.process_time()
    assert len(reading_order(boxes, GUTTER)) == 3000
    assert time.process_time() - start < 5.0
