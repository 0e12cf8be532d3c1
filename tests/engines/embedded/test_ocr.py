"""What the recogniser says becomes lines and words with places."""

from __future__ import annotations

import numpy as np
import pytest

from moonpress.engines.embedded.detection import TextBox
from moonpress.engines.embedded.ocr import Recogniser, lines_of
from moonpress.engines.embedded.recognition import Reading
from tests.generators import tables
from tests.generators.scans import as_pixels


def _found(x0: float, y0: float, x1: float, y1: float) -> TextBox:
    return TextBox(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], dtype=np.float32), 0.9)


def test_words_lie_where_their_letters_were_seen() -> None:
    reading = Reading("ab  cde", 0.9, (0.05, 0.15, 0.25, 0.45, 0.75, 0.85, 0.95))
    (line,) = lines_of(_found(100, 10, 300, 80), reading)
    assert line.text == "ab cde"
    first, second = (word.box for word in line.words)
    assert (first.x0, second.x1) == (100, 300)
    assert first.x1 == pytest.approx(142, abs=1)
    assert second.x0 == pytest.approx(238, abs=1)


def test_a_line_found_across_two_columns_is_parted() -> None:
    reading = Reading("ab cd", 0.9, (0.02, 0.04, 0.5, 0.94, 0.96))
    lines = lines_of(_found(0, 0, 1000, 30), reading)
    assert [line.text for line in lines] == ["ab", "cd"]
    assert lines[0].box.x1 < 100
    assert lines[1].box.x0 > 900


def test_cells_of_a_scanned_table_are_lines_of_their_own() -> None:
    page = tables.simple_tables()[0]
    lines = Recogniser(fast=True, threads=1).read(as_pixels(page, 150))
    read = {line.text.replace(" ", "") for line in lines}
    cells = {c.text.replace(" ", "") for t in page.tables for c in t.cells if len(c.text) > 2}
    assert len(cells & read) >= 0.9 * len(cells)
