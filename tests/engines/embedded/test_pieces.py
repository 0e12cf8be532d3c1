"""Torn lines joined, merged lines parted."""

from __future__ import annotations

from moonpress.engines.embedded.pieces import join_pieces, split_at_gutters
from tests.engines.embedded.pages import column, line

FULL = "eight words of text that fill the column"  # 400 pixels


def test_a_stretched_line_is_joined() -> None:
    torn = [line("eight words of", 0, 26), line("fill the column", 220, 26)]
    lines = [line(FULL, 0, 0), *torn, line(FULL, 0, 52)]
    texts = sorted(x.text for x in join_pieces(lines))
    assert texts == sorted([FULL, "eight words of fill the column", FULL])


def test_columns_are_not_joined_over_a_narrow_gutter() -> None:
    lines = [*column([FULL] * 4, 0, 0), *column([FULL] * 4, 409, 0)]
    assert len(join_pieces(lines)) == 8


def test_the_last_short_line_of_a_column_is_not_joined() -> None:
    left = column([FULL, FULL, "the end"], 0, 0)
    right = column([FULL, FULL, FULL], 420, 0)
    assert len(join_pieces([*left, *right])) == 6


def test_line_numbers_in_the_gutter_do_not_bridge_it() -> None:
    left, right = column([FULL] * 4, 0, 0), column([FULL] * 4, 450, 0)
    assert len(join_pieces([*left, *right, line("45", 415, 26)])) == 9


def test_a_line_across_the_gutter_is_parted() -> None:
    merged = join_pieces([line(FULL, 0, 26), line(FULL, 409, 26)])
    assert len(merged) == 2
    whole = line(FULL + "     " + FULL, 0, 26)
    words = (*line(FULL, 0, 26).words, *line(FULL, 450, 26).words)
    crossing = type(whole)(box=whole.box, text=f"{FULL} {FULL}", size=20, words=words)
    around = [*column([FULL, "", FULL], 0, 0)[::2], *column([FULL, "", FULL], 450, 0)[::2]]
    parts = split_at_gutters([crossing, *around])
    assert [x.text for x in parts] == [FULL] * 6


def test_a_wide_gap_inside_a_column_is_left() -> None:
    words = (*line("eight words of", 0, 26).words, *line("fill the column", 250, 26).words)
    gappy = line("eight words of fill the column...........", 0, 26)
    stretched = type(gappy)(box=gappy.box, text="eight words of fill the column", words=words)
    assert len(split_at_gutters([line(FULL, 0, 0), stretched, line(FULL, 0, 52)])) == 3


def test_a_line_across_a_gutter_as_narrow_as_a_word_space_is_parted() -> None:
    left = column([FULL] * 9, 0, 0)
    right = column([FULL] * 9, 412, 0)
    words = (*left[4].words, *right[4].words)
    merged = type(left[0])(
        box=left[4].box.union(right[4].box), text=f"{FULL} {FULL}", size=20, words=words
    )
    parted = split_at_gutters([*left[:4], *left[5:], merged, *right[:4], *right[5:]])
    assert [x.text for x in parted] == [FULL] * 18


def test_pieces_are_not_joined_over_a_gutter_that_only_far_rows_show() -> None:
    """Rows close by are missing; five above and below end and begin at the gap."""
    left, right = column([FULL] * 9, 0, 0), column([FULL] * 9, 408, 0)
    apart = [*left[:3], left[4], *left[6:], *right[:3], right[4], *right[6:]]
    assert len(join_pieces(apart)) == len(apart)


def test_a_title_over_both_columns_is_whole() -> None:
    title = line("a heading of more letters that runs on over both of the columns below", 0, 0)
    lines = [title, *column([FULL] * 9, 0, 40), *column([FULL] * 9, 412, 40)]
    assert split_at_gutters(lines)[0].text == title.text
