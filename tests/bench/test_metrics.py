"""Scores are what their definitions say on readings whose faults are known."""

from __future__ import annotations

from random import Random

import pytest

from moonpress.bench import metrics
from moonpress.bench.markdown import Table, html_table
from tests.generators import tables as generated
from tests.generators.words import english_paragraph

TRUTH = html_table("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>dd</td></tr></table>")


def test_character_error_counts_edits() -> None:
    assert metrics.character_error("abcde fghij", "abcde fghix", script="latin") == pytest.approx(
        1 / 11
    )
    assert metrics.character_error("中文字", "中 文 子", script="cjk") == pytest.approx(1 / 3)


def test_word_error_ignores_markup_but_not_words() -> None:
    assert metrics.word_error("one two three four", "# one **two** three") == pytest.approx(0.25)


def test_order_score_falls_with_swapped_blocks() -> None:
    rng = Random(3)
    blocks = [english_paragraph(rng, 20) for _ in range(4)]
    assert metrics.order_score(blocks, "\n\n".join(blocks)) == (1.0, 1.0)
    reverse = "\n\n".join(reversed(blocks))
    assert metrics.order_score(blocks, reverse) == (0.0, 1.0)
    order, found = metrics.order_score(blocks, "\n\n".join([*blocks[1:3], blocks[0]]))
    assert order == pytest.approx(1 / 3)
    assert found == pytest.approx(0.75)


def test_teds_is_one_for_equal_tables_and_falls_by_the_edit() -> None:
    assert metrics.teds(TRUTH, TRUTH) == 1.0
    one_letter = html_table(
        "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>dx</td></tr></table>"
    )
    # Seven nodes; half of one cell's text is wrong.
    assert metrics.teds(TRUTH, one_letter) == pytest.approx(1 - 0.5 / 7)
    row_gone = html_table("<table><tr><td>a</td><td>b</td></tr></table>")
    assert metrics.teds(TRUTH, row_gone) == pytest.approx(1 - 3 / 7)
    assert metrics.teds(TRUTH, None) == 0.0


def test_teds_counts_wrong_spans() -> None:
    spanned = html_table("<table><tr><td colspan='2'>a</td></tr></table>")
    single = html_table("<table><tr><td>a</td></tr></table>")
    assert metrics.teds(spanned, single) == pytest.approx(1 - 1 / 3)


def test_exact_cells_wants_place_and_text() -> None:
    shifted = html_table(
        "<table><tr><td>a</td><td>b</td></tr><tr><td>dd</td><td>c</td></tr></table>"
    )
    assert metrics.exact_cells(TRUTH, shifted) == 0.5
    assert metrics.exact_cells(TRUTH, None) == 0.0


def test_truth_of_generated_tables_scores_one_against_itself() -> None:
    for page in (*generated.simple_tables()[:2], *generated.spanned_tables()[:2]):
        table = html_table(page.tables[0].to_html())
        assert metrics.exact_cells(table, table) == 1.0
        assert metrics.teds(table, table) == 1.0


def test_tables_are_paired_by_their_words_and_used_once() -> None:
    other = html_table("<table><tr><td>x</td><td>y</td></tr></table>")
    assert metrics.pair_tables([TRUTH, other], [other, TRUTH]) == [TRUTH, other]
    assert metrics.pair_tables([TRUTH, TRUTH], [TRUTH]) == [TRUTH, None]
    assert metrics.pair_tables([TRUTH], [Table(())]) == [None]
