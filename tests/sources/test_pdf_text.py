"""The text layer of PDF pages."""

from __future__ import annotations

import numpy as np
import pytest

from moonpress.document import Font, TextLayer
from tests.sources.raw_pdf import BOLD, MONO, RawPage, form, raw_pdf, stream, text
from tests.sources.samples import draw


def layer(content: str, entries: str = "", **files: object) -> TextLayer:
    found = layer_or_none(content, entries, **files)
    assert found is not None
    return found


def layer_or_none(content: str, entries: str = "", **files: object) -> TextLayer | None:
    page = RawPage(content, entries, files.pop("xobjects", {}))  # type: ignore[arg-type]
    return draw(raw_pdf(page, **files)).text_layer  # type: ignore[arg-type]


def box_of(found: TextLayer, words: str) -> tuple[float, ...]:
    """Box around ``words`` in points of a letter page, from its top left corner."""
    at = found.text.index(words)
    boxes = found.boxes[at : at + len(words)]
    low, high = boxes.min(axis=0), boxes.max(axis=0)
    return low[0] * 612, low[1] * 792, high[2] * 612, high[3] * 792


def test_arrays_agree_and_have_their_types() -> None:
    found = layer(text((72, 700), "Hello") + text((72, 680), "world", font=BOLD))
    count = len(found)
    assert found.text.split() == ["Hello", "world"]
    assert found.boxes.shape == (count, 4)
    assert found.boxes.dtype == found.sizes.dtype == np.float32
    assert found.font_ids.dtype == found.angles.dtype == np.int16
    assert found.invisible.dtype == np.bool_
    assert len(found.sizes) == len(found.font_ids) == len(found.angles) == count
    assert len(found.invisible) == count


def test_boxes_are_an_em_high_about_the_baseline_and_touch() -> None:
    found = layer(text((72, 700), "agQxy", size=20))
    x0, y0, x1, y1 = box_of(found, "agQxy")
    assert x0 == pytest.approx(72, abs=0.5)
    assert y1 - y0 == pytest.approx(20, abs=0.5)
    assert y0 < 92 - 14
    assert y1 > 92 + 3
    assert len(set(found.boxes[:5, 1].tolist())) == 1
    assert found.boxes[1:5, 0] == pytest.approx(found.boxes[:4, 2], abs=1e-3)
    # Helvetica: a .556, g .556, Q .778, x .5, y .5
    assert x1 - x0 == pytest.approx(20 * 2.89, abs=0.5)


def test_a_space_between_words_has_room() -> None:
    found = layer(text((72, 700), "one two"))
    assert found.text == "one two"
    space = found.boxes[3] * 612
    assert space[2] - space[0] == pytest.approx(12 * 0.278, abs=0.2)


def test_words_apart_get_a_space() -> None:
    found = layer(text((72, 700), "left") + text((300, 700), "right"))
    assert found.text.split() == ["left", "right"]


@pytest.mark.parametrize(
    ("matrix", "angle"),
    [
        ("1 0 0 1", 0),
        ("0 1 -1 0", 270),
        ("-1 0 0 -1", 180),
        ("0 -1 1 0", 90),
        ("0.866 0.5 -0.5 0.866", 330),
    ],
)
def test_turned_text(matrix: str, angle: int) -> None:
    found = layer(f"BT /F1 20 Tf {matrix} 300 400 Tm (agQxy) Tj ET")
    assert set(found.angles.tolist()) == {angle}
    assert found.sizes == pytest.approx(20, rel=1e-3)
    x0, y0, x1, y1 = box_of(found, "agQxy")
    if angle % 90 == 0:
        along, across = (x1 - x0, y1 - y0) if angle % 180 == 0 else (y1 - y0, x1 - x0)
        assert along == pytest.approx(57.8, abs=0.6)
        assert across == pytest.approx(20, abs=0.6)
    descender = {0: y1 - 392, 180: 392 - y0, 90: 300 - x0, 270: x1 - 300}.get(angle)
    if descender is not None:
        assert 3 < descender < 6


@pytest.mark.parametrize(("rotate", "angle"), [(90, 90), (180, 180), (270, 270)])
def test_turned_pages(rotate: int, angle: int) -> None:
    straight = draw(raw_pdf(RawPage(text((72, 700), "Word"))))
    turned = draw(raw_pdf(RawPage(text((72, 700), "Word"), f"/Rotate {rotate}")))
    assert straight.text_layer is not None
    assert turned.text_layer is not None
    assert set(turned.text_layer.angles.tolist()) == {angle}
    x0, y0, x1, y1 = straight.text_layer.boxes[0]
    expected = {
        90: (1 - y1, x0, 1 - y0, x1),
        180: (1 - x1, 1 - y1, 1 - x0, 1 - y0),
        270: (y0, 1 - x1, y1, 1 - x0),
    }[rotate]
    assert turned.text_layer.boxes[0] == pytest.approx(expected, abs=1e-5)


def test_boxes_lie_on_the_ink() -> None:
    image = draw(raw_pdf(RawPage(text((150, 300), "H", size=60), "/CropBox [100 200 400 600]")))
    assert image.text_layer is not None
    rows, columns = np.nonzero(image.pixels.mean(axis=2) < 128)
    height, width = image.pixels.shape[:2]
    x0, y0, x1, y1 = image.text_layer.boxes[0]
    assert x0 * width <= columns.min() <= x0 * width + 6
    assert x1 * width - 6 <= columns.max() <= x1 * width
    assert y0 * height <= rows.min()
    assert rows.max() <= y1 * height


def test_what_the_crop_box_hides_is_left_out_and_what_it_cuts_is_cut() -> None:
    content = text((150, 300), "seen") + text((20, 20), "hidden") + text((395, 400), "MM")
    found = layer(content, "/CropBox [100 200 400 600]")
    assert found.text.split() == ["seen", "M"]
    assert found.boxes.min() >= 0
    assert found.boxes.max() <= 1


def test_fonts() -> None:
    found = layer(
        text((72, 700), "a") + text((72, 650), "b", font=BOLD) + text((72, 600), "c", font=MONO)
    )
    by_letter = {letter: found.fonts[found.font_ids[found.text.index(letter)]] for letter in "abc"}
    assert by_letter["a"] == Font("Helvetica")
    assert (by_letter["b"].bold, by_letter["b"].italic) == (True, True)
    assert by_letter["c"].mono


def test_sizes_are_those_displayed() -> None:
    inside = {100: form(text((10, 10), "small", size=10))}
    found = layer(
        "BT /F1 1 Tf 18 0 0 18 72 700 Tm (big) Tj ET q 2 0 0 2 0 0 cm /A Do Q",
        xobjects={"A": 100},
        objects=inside,
    )
    assert found.sizes[found.text.index("big")] == pytest.approx(18)
    assert found.sizes[found.text.index("small")] == pytest.approx(20)


def test_invisible_text_is_marked() -> None:
    found = layer(text((72, 700), "seen") + "BT /F1 12 Tf 3 Tr 72 650 Td (ghost) Tj ET")
    assert not found.invisible[found.text.index("seen")]
    assert found.invisible[found.text.index("ghost")]


_TO_UNICODE = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /X def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
4 beginbfchar <41> <D835DC9C> <42> <D835> <43> <0001> <44> <0000> endbfchar
endcmap end end"""


def test_surrogates_are_joined_and_rubbish_is_replaced() -> None:
    font = (
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 101 0 R "
        "/FirstChar 65 /LastChar 68 /Widths [600 600 600 600] >>"
    )
    resources = "/Resources << /Font << /F9 100 0 R >> >>"
    inside = {
        100: font,
        101: stream(_TO_UNICODE.encode()),
        102: form("BT /F9 20 Tf 72 700 Td (ABxC) Tj ET", resources),
    }
    found = layer("/A Do", xobjects={"A": 102}, objects=inside)
    assert found.text[0] == "\U0001d49c"
    assert len(found.text) == len(found.boxes) == 4
    assert found.text[2] == "x"
    assert found.text[1] == found.text[3] == "\ufffd"
    found.text.encode("utf-8")
    # The next box begins where the joined character ends.
    assert found.boxes[1, 0] == pytest.approx(found.boxes[0, 2], abs=3e-3)


def test_a_page_without_text_has_no_layer() -> None:
    assert layer_or_none("0 0 10 10 re f") is None
    assert layer_or_none(text((2000, 2000), "far away")) is None
