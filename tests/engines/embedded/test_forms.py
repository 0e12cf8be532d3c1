"""Labels with answers, check boxes, and what is neither."""

from __future__ import annotations

import pytest

from moonpress.document import BlockKind, PageImage, PageReading
from moonpress.engines.embedded.forms import find_forms
from moonpress.engines.embedded.reader import PageReader
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.types import Box, Line
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.engines.embedded.pages import line
from tests.generators import structures
from tests.generators.scans import as_scan


def _html(lines: list[Line], *rulings: Box) -> list[str]:
    drafts, _ = find_forms(lines, rulings)
    return [draft.html or "" for draft in drafts]


def test_labels_and_answers_stand_on_one_line() -> None:
    lines = [
        line("Name:", 100, 100),
        line("Address:", 100, 140),
        line("Ada <King>", 300, 100),
        line("12 Square", 300, 140),
    ]
    assert _html(lines) == ["<p>Name: Ada &lt;King&gt;</p><p>Address: 12 Square</p>"]


def test_a_ruling_without_an_answer_is_a_blank() -> None:
    lines = [line("Name:", 100, 100), line("Signed:", 100, 140), line("A. King", 300, 140)]
    rulings = [Box(180, 122, 500, 123), Box(280, 162, 500, 163)]
    (html,) = _html(lines, *rulings)
    assert html == '<p>Name: <input type="text"></p><p>Signed: A. King</p>'


def test_check_boxes_of_a_row_and_under_each_other() -> None:
    lines = [
        line("☒ yes", 100, 100),
        line("☐ no", 250, 100),
        line("☐ neither of the two", 100, 140),
    ]
    assert _html(lines) == [
        '<p><input type="checkbox" checked> yes <input type="checkbox"> no</p>'
        '<p><input type="checkbox"> neither of the two</p>'
    ]


def test_what_is_no_form() -> None:
    lone = [line("Note:", 100, 100), line("see the next page", 300, 100)]
    assert find_forms(lone, ()) == ((), tuple(lone))
    box = [line("☐ a lone box", 100, 100)]
    assert find_forms(box, ()) == ((), tuple(box))
    prose = [line("as follows:", 100, 100), line("and then:", 100, 140)]
    assert find_forms(prose, ()) == ((), tuple(prose))
    columns = [*prose, line("text beside it", 300, 100), line("in a column", 320, 140)]
    assert find_forms(columns, ()) == ((), tuple(columns))


@pytest.mark.parametrize("scanned", [False, True])
def test_a_form_in_full(scanned: bool) -> None:
    made = structures.form()
    reading = _read(as_scan(made) if scanned else made.pdf)
    (truth,) = (block for block in made.blocks if block.kind is BlockKind.FORM)
    (form,) = (block for block in reading.blocks if block.kind is BlockKind.FORM)
    rows = form.html.removeprefix("<p>").removesuffix("</p>").split("</p><p>")
    marks = {"[x]": '<input type="checkbox" checked>', "[ ]": '<input type="checkbox">'}
    wanted = truth.text
    for mark, html in marks.items():
        wanted = wanted.replace(mark, html)
    assert rows == wanted.split("\n")


def _read(data: bytes) -> PageReading:
    source = open_source(data, name="form", password=None)
    try:
        image: PageImage = source.page(1, RenderRequest(dpi=150, max_pixels=25_000_000))
    finally:
        source.close()
    return PageReader(EmbeddedSettings(fast=True)).read(image)
