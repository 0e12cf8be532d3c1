"""What two readings of a page say differently."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from moonpress.ui.differences import differences

_WORDS = st.lists(st.sampled_from(["red", "green", "blue", "x"]), max_size=12)


def test_like_readings_have_no_mark() -> None:
    found = differences("<p>The same words</p>", "<div><p>The  same\nwords</p></div>")
    assert (found.same, found.only_left, found.only_right) == (3, 0, 0)
    assert "<mark>" not in found.left + found.right


def test_words_of_one_alone_are_marked_together() -> None:
    found = differences("<p>The quick red fox ran</p>", "<p>The slow fox ran</p>")
    assert found.left == "<p>The <mark>quick red</mark> fox ran</p>"
    assert found.right == "<p>The <mark>slow</mark> fox ran</p>"
    assert (found.same, found.only_left, found.only_right) == (3, 2, 1)


def test_a_formula_is_one_word_and_stays_whole() -> None:
    left = "<p>so <math><mi>a</mi><mo>+</mo><mn>1</mn></math> holds</p>"
    right = "<p>so <math><mi>a</mi><mo>+</mo><mn>7</mn></math> holds</p>"
    found = differences(left, right)
    assert found.left == left.replace("<math>", "<mark><math>").replace("</math>", "</math></mark>")
    assert found.only_left == found.only_right == 1
    assert differences(left, left).same == 3


def test_a_mark_never_crosses_an_element() -> None:
    found = differences("<p>one two</p>\n<p>three four</p>", "<p>five</p>")
    assert found.left == "<p><mark>one two</mark></p>\n<p><mark>three four</mark></p>"


@given(_WORDS, _WORDS)
def test_nothing_is_lost_by_marking(left: list[str], right: list[str]) -> None:
    texts = [f"<p>{' '.join(words)}</p>" for words in (left, right)]
    found = differences(*texts)
    assert [re.sub("</?mark>", "", html) for html in (found.left, found.right)] == texts
    assert found.same + found.only_left == len(left)
    assert found.same + found.only_right == len(right)
