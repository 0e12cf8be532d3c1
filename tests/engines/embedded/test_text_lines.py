"""Lines must stay inside their column or cell, and whole within it."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest

from moonpress.document import TextLayer
from moonpress.engines.embedded.text_lines import lines_of_layer
from moonpress.engines.embedded.types import Box, Line
from tests.engines.embedded.layers import PAGE, LayerWriter


def _lines(layer: TextLayer, rulings: tuple[Box, ...] = ()) -> list[Line]:
    boxes = layer.boxes * np.float32(PAGE)
    found = lines_of_layer(layer, boxes, rulings, width=1000, height=1000, dpi=72)
    return sorted(found, key=lambda line: (line.box.y0, line.box.x0))


def _texts(layer: TextLayer, rulings: tuple[Box, ...] = ()) -> list[str]:
    return [line.text for line in _lines(layer, rulings)]


def _words(rng: Random, count: int) -> str:
    return " ".join("abcdefghij"[: rng.randint(2, 9)] for _ in range(count))


def test_columns_a_letter_width_apart_are_not_merged() -> None:
    writer, rng = LayerWriter(size=10), Random(1)
    for row in range(12):
        writer.put(_words(rng, 30)[:56].strip(), 100, 100 + 12 * row)
        writer.line_break()
    for row in range(12):
        writer.put(_words(rng, 30)[:56].strip(), 392, 100 + 12 * row)
        writer.line_break()
    lines = _lines(writer.layer())
    assert len(lines) == 24
    assert all(line.box.x1 < 392 or line.box.x0 >= 391 for line in lines)


def test_a_short_last_line_does_not_run_on_into_the_next_column() -> None:
    writer, rng = LayerWriter(size=10), Random(1)
    for left in (100, 412):
        for row in range(12):
            short = 40 if row == 5 and left == 100 else 56
            writer.put(_words(rng, 30)[:short].strip(), left, 100 + 12 * row)
            writer.line_break()
    assert len(_lines(writer.layer())) == 24


def test_stretched_words_of_a_justified_line_stay_together() -> None:
    writer, rng = LayerWriter(size=10), Random(2)
    for row in range(9):
        space = 2.6 if row == 4 else 0.25
        text = "just four stretched words here" if row == 4 else _words(rng, 40)[:60].strip()
        writer.put(text, 100, 100 + 12 * row, space=space)
        writer.line_break()
    assert "just four stretched words here" in _texts(writer.layer())


def test_squeezed_spaces_that_the_file_has_not_are_seen() -> None:
    writer = LayerWriter(size=20)
    at = 100.0
    for word in ("morning", "feeling", "rested", "and", "ready"):
        at = writer.put(word, at, 100) + 0.13 * 20
    spaced = 100.0
    for letter in "letterspaced heading":
        spaced = writer.put(letter, spaced, 200) + 0.13 * 20
    assert _texts(writer.layer()) == [
        "morning feeling rested and ready",
        "letterspaced heading",
    ]


def test_cells_of_a_table_without_rulings_are_parted() -> None:
    writer = LayerWriter(size=10)
    rows = [("Alabama", "18", "4.5"), ("Oregon", "7", "12.25"), ("Ohio", "190", "8.0")]
    for number, cells in enumerate(rows):
        for cell, x in zip(cells, (100, 160, 200), strict=True):
            writer.put(cell, x, 100 + 14 * number)
    assert sorted(_texts(writer.layer())) == sorted(cell for row in rows for cell in row)


def test_an_upright_ruling_parts_even_close_words() -> None:
    writer = LayerWriter(size=10)
    end = writer.put("left", 100, 100)
    writer.put("right", end + 4, 100)
    wall = Box(end + 1.5, 80, end + 2.5, 120)
    assert _texts(writer.layer()) == ["left right"]
    assert _texts(writer.layer(), (wall,)) == ["left", "right"]


@pytest.mark.parametrize("mark", ["{}.", "({})", "[{}]"])
def test_a_list_marker_stays_with_its_item(mark: str) -> None:
    writer = LayerWriter(size=10)
    for row in range(5):
        writer.put(mark.format(row + 1), 100, 100 + 14 * row)
        writer.put("item of the list", 125, 100 + 14 * row)
        writer.line_break()
    assert _texts(writer.layer()) == [f"{mark.format(n)} item of the list" for n in range(1, 6)]


def test_exponents_and_indices_stay_in_their_line() -> None:
    writer = LayerWriter(size=20)
    end = writer.put("as x", 100, 100)
    end = writer.put("2", end, 92, size=12)
    writer.put(" grows", end, 100)
    # Drawn later, out of order, as some producers do.
    writer.put("10", 300, 105, size=12)
    writer.put("log", 270, 100)
    assert _texts(writer.layer()) == ["as x2 grows", "log10"]


def test_a_stamp_in_the_margin_is_a_line_of_its_own_with_a_tall_box() -> None:
    writer = LayerWriter(size=20)
    writer.put_upwards("stamp 12 May", 40, 900)
    for row in range(20):
        writer.put("body of the page", 60, 300 + 24 * row)
        writer.line_break()
    lines = _lines(writer.layer())
    assert len(lines) == 21
    (stamp,) = (line for line in lines if line.box.height > line.box.width)
    assert stamp.text == "stamp 12 May"
    assert stamp.box.y1 == pytest.approx(900, abs=0.5)
    assert stamp.words[0].box.y0 > stamp.words[1].box.y0


def test_ligatures_hyphen_marks_and_accents_are_plain_text() -> None:
    writer = LayerWriter(size=20)
    writer.put("eﬃcient co\ufffeop", 100, 100)
    end = writer.put("caf", 100, 200)
    writer.put("´", end, 200)
    writer.put("e", end, 200)
    assert _texts(writer.layer()) == ["efficient co-op", "café"]


def test_accents_drawn_after_all_letters_stand_on_theirs() -> None:
    writer = LayerWriter(size=20)
    at = writer.put("in Rh", 100, 100)
    writer.put("one-Alpes and", at, 100)
    writer.put("ˆ", at, 100)
    assert _texts(writer.layer()) == ["in Rhône-Alpes and"]


def test_small_capitals_and_hanging_figures_of_old_fonts_are_letters_and_figures() -> None:
    writer = LayerWriter(size=20)
    writer.put("H\uf765\uf769\uf764\uf772\uf769\uf763\uf768 \uf731\uf739\uf739\uf730", 100, 100)
    assert _texts(writer.layer()) == ["HEIDRICH 1990"]


def test_letters_of_a_ligature_that_share_a_box_are_all_kept() -> None:
    writer = LayerWriter(size=20)
    end = writer.put("di", 100, 100)
    for letter in "ffi":
        writer.put(letter, end, 100)
    writer.put("cult", end + 10, 100)
    assert _texts(writer.layer()) == ["difficult"]


def test_text_drawn_twice_for_boldness_is_read_once() -> None:
    writer = LayerWriter(size=20)
    writer.put("Heading", 100, 100)
    writer.put("Heading", 100.6, 100)
    assert _texts(writer.layer()) == ["Heading"]


def test_chinese_has_no_spaces_and_keeps_those_around_latin() -> None:
    writer = LayerWriter(size=20)
    x = 100.0
    for char in "中文":
        writer.put(char, x, 100)
        x += 20
    writer.put(" PDF ", x, 100)
    writer.put("页", x + 40, 100)
    assert _texts(writer.layer()) == ["中文 PDF 页"]


def test_hebrew_reads_from_the_right_and_keeps_numbers() -> None:
    writer = LayerWriter(size=20)
    for word, right in (("שלום", 400.0), ("עולם", 350.0)):
        for place, letter in enumerate(word):
            writer.put(letter, right - 10 * (place + 1), 100)
        writer.put(" ", right - 45, 100)
    writer.put("1948", 260, 100)
    assert _texts(writer.layer()) == ["שלום עולם 1948"]


def test_arabic_stored_in_visual_order_is_turned_about() -> None:
    writer = LayerWriter(size=20)
    writer.put("دلوي", 100, 100)
    assert _texts(writer.layer()) == ["يولد"]


def test_words_carry_boxes_and_fonts_sizes() -> None:
    writer = LayerWriter(size=20)
    writer.put("two words", 100, 100)
    (line,) = _lines(writer.layer())
    assert [w.text for w in line.words] == ["two", "words"]
    assert line.words[1].box.x0 == pytest.approx(135)
    assert line.size == pytest.approx(20)


def test_a_dense_page_takes_little_time() -> None:
    writer, rng = LayerWriter(size=8), Random(3)
    for row in range(90):
        writer.put(_words(rng, 30)[:110], 50, 40 + 10 * row)
        writer.line_break()
    layer = writer.layer()
    assert len(layer) > 9000
    _lines(layer)
    start = time.process_time()
    _lines(layer)
    # 30 ms per 5,000 characters on a quiet machine; five times that on a busy one.
    assert time.process_time() - start < 0.3


def test_a_drop_capital_is_a_line_of_its_own() -> None:
    writer = LayerWriter(size=20)
    writer.put("T", 100, 148, size=70)
    writer.put("he mill stood by the river", 140, 100)
    writer.line_break()
    writer.put("and had not turned for", 140, 124)
    writer.line_break()
    writer.put("many long years when", 140, 148)
    assert sorted(_texts(writer.layer())) == [
        "T",
        "and had not turned for",
        "he mill stood by the river",
        "many long years when",
    ]
