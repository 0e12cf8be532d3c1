from __future__ import annotations

import pytest

from moonpress.engines.agreement import compare

LAYER = (
    "Attention is drawn to the exam-\nple given in section 4, where the ﬁrst and the second group"
    " of patients are compared over a period of 12 months and more."
)
HTML = (
    '<div data-bbox="0 0 9 9" data-label="Text"><p>Attention is drawn to the example given in'
    " section 4, where the first and the <b>second</b> group of patients are compared over a"
    " period of 12 months and more.</p></div>"
)


def test_hyphens_ligatures_and_markup_make_no_difference() -> None:
    agreement = compare(HTML, LAYER)
    assert agreement is not None
    assert (agreement.found, agreement.backed) == (1.0, 1.0)


def test_formulas_and_descriptions_of_pictures_do_not_count() -> None:
    more = HTML + '<math>x^2 \\alpha \\beta \\gamma</math><img alt="a red house by the sea"/>'
    agreement = compare(more, LAYER)
    assert agreement is not None
    assert agreement.backed == 1.0


def test_half_a_page_is_half_found_and_fully_backed() -> None:
    agreement = compare(HTML[: len(HTML) // 2], LAYER)
    assert agreement is not None
    assert 0.3 < agreement.found < 0.7
    assert agreement.backed > 0.9


def test_a_repeated_text_is_not_backed() -> None:
    agreement = compare(HTML * 4, LAYER)
    assert agreement is not None
    assert agreement.backed == pytest.approx(0.25, abs=0.01)


def test_few_words_prove_nothing() -> None:
    assert compare(HTML, "Figure 4") is None


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    layer = "我们认为这是对的而且应该继续这样做下去直到明年"
    agreement = compare(f"<p>{layer[:12]}</p>", layer)
    assert agreement is not None
    assert agreement.found == pytest.approx(12 / len(layer), abs=0.02)
