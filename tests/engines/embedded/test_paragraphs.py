"""Where paragraphs begin."""

from __future__ import annotations

from dataclasses import replace

from moonpress.document import TextOrigin
from moonpress.engines.embedded.columns import stack_lines
from moonpress.engines.embedded.paragraphs import split_paragraphs
from moonpress.engines.embedded.types import Line
from tests.engines.embedded.pages import column, line

FULL = "eight words of text that fill the column"


def texts(lines: list[Line]) -> list[str]:
    found = [p for stack in stack_lines(lines) for p in split_paragraphs(stack)]
    return [" / ".join(" ".join(x.text for x in row) for row in p) for p in found]


def test_a_short_last_line_ends_a_paragraph() -> None:
    lines = column([FULL, "the end.", "Another one begins and fills the column,", FULL], 0, 0)
    assert len(texts(lines)) == 2


def test_an_indent_begins_a_paragraph() -> None:
    lines = column([FULL, FULL], 0, 0) + column([FULL[:-4]], 40, 52) + column([FULL], 0, 78)
    assert [t.count("/") for t in texts(lines)] == [1, 1]


def test_ragged_lines_stay_together() -> None:
    ragged = ["some words that do not", "fill the whole column but", "go on from line to line"]
    assert len(texts(column(ragged, 0, 0))) == 1


def test_a_list_item_keeps_its_indented_lines() -> None:
    lines = [line("1. first item of the list", 0, 0), line("goes on", 30, 26)]
    lines += [line("2. second item", 0, 52)]
    assert texts(lines) == ["1. first item of the list / goes on", "2. second item"]


def test_a_label_in_an_open_sentence_begins_nothing() -> None:
    lines = column([FULL, "d. The words of a sentence that goes on", FULL], 0, 0)
    assert len(texts(lines)) == 1
    ended = column([FULL[:-1] + ".", "d. The fourth of a few points made here", FULL], 0, 0)
    assert len(texts(ended)) == 2


def test_a_short_last_line_of_a_scan_may_look_smaller() -> None:
    small = line("resistance.", 0, 52, size=20)
    lines = [*column([FULL, FULL], 0, 0), replace(small, size=16.4)]
    assert len(texts(lines)) == 1
    digital = [replace(x, origin=TextOrigin.TEXT_LAYER) for x in lines]
    assert len(texts(digital)) == 2


def test_bold_rows_are_paragraphs_of_their_own() -> None:
    lines = [line("Methods", 0, 0, bold=True), *column([FULL, FULL], 0, 26)]
    assert len(texts(lines)) == 2


def test_neighbouring_columns_are_separate_stacks() -> None:
    lines = [*column([FULL] * 3, 0, 0), *column([FULL] * 3, 450, 0)]
    assert [len(stack) for stack in stack_lines(lines)] == [3, 3]
