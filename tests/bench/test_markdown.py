"""Outputs of any engine become the same plain text and tables."""

from __future__ import annotations

import pytest

from moonpress.bench.markdown import Cell, fold, html_table, plain_text, tables

PIPE = "| a | b |\n|---|:-:|\n| 1 | x\\|y |\n"
HTML = (
    '<table><tr><td rowspan="2">a</td><td colspan="2">b</td></tr>'
    "<tr><td>c</td><td>d</td></tr></table>"
)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## 2.1 A *fine* title\n\nand `code`", "2.1 A fine title and code"),
        ("- one\n  - two\n3. three", "one two three"),
        ("![alt words](figure.png) see [the link](#p2)", "see the link"),
        ("snake\\_case \\*not bold\\* 2 * 3", "snake_case *not bold* 2 * 3"),
        ("a &lt; b &amp; c", "a < b & c"),
        ("“quoted” – it’s ﬁne", '"quoted" - it\'s fine'),
        ("one <!-- a remark --> two", "one two"),
        ("a<br>b <sup>2</sup>", "a b 2"),
        (PIPE, "a b 1 x|y"),
        (f"before\n\n{HTML}\n\nafter", "before a b c d after"),
        ("中文 和 English 字", "中文和English字"),
        ("---\n\n```python\nx = 1\n```", "x = 1"),
    ],
)
def test_plain_text(markdown: str, expected: str) -> None:
    assert plain_text(markdown) == expected


def test_spans_are_laid_out_on_the_grid() -> None:
    assert html_table(HTML).cells == (
        Cell(0, 0, 2, 1, "a"),
        Cell(0, 1, 1, 2, "b"),
        Cell(1, 1, 1, 1, "c"),
        Cell(1, 2, 1, 1, "d"),
    )


def test_tables_of_both_kinds_come_in_order() -> None:
    found = tables(f"text\n\n{PIPE}\nmore\n\n{HTML}\n")
    assert [len(t.cells) for t in found] == [4, 4]
    assert found[0].cells[3].text == "x|y"
    assert found[1].cells[0].row_span == 2


def test_lines_with_bars_alone_are_no_table() -> None:
    assert tables("| not a table |\n") == []


def test_fold_joins_what_differs_only_in_form() -> None:
    assert fold("Ａ\u00a0b\u00ad c\n\nd") == "A b c d"
