"""The text stage on generated pages with known truth: text layers, scans, both, neither."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from moonpress.document import BBox, PageImage, ProblemCode, TextOrigin
from moonpress.engines.embedded.prepare import TextStage
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.types import UprightPage
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.generators import prose
from tests.generators.page import GeneratedPage
from tests.generators.scans import as_scan, mixed

jiwer = pytest.importorskip("jiwer")


@pytest.fixture(scope="module")
def stage() -> TextStage:
    return TextStage(EmbeddedSettings(fast=True))


@pytest.fixture(scope="module")
def columns() -> GeneratedPage:
    return prose.columns(2)


def _image(data: bytes, dpi: float = 150) -> PageImage:
    source = open_source(data, name="test", password=None)
    try:
        return source.page(1, RenderRequest(dpi=dpi, max_pixels=25_000_000))
    finally:
        source.close()


def _plain(text: str) -> str:
    dashes = str.maketrans("–—‐’‘“”", "---''\"\"")
    return unicodedata.normalize("NFKC", text).translate(dashes)


def _error_rate(page: GeneratedPage, read: UprightPage) -> float:
    """Character error rate in percent, lines matched by place on the upright page."""
    wanted, got = [], []
    placed = [(read.to_page(line.box), line.text) for line in read.lines]
    for line in page.lines:
        box = line.bbox
        here = [
            (b.x0, text)
            for b, text in placed
            if box.y0 < (b.y0 + b.y1) / 2 < box.y1 and box.x0 < (b.x0 + b.x1) / 2 < box.x1
        ]
        wanted.append(_plain(line.text))
        got.append(_plain(" ".join(text for _, text in sorted(here))))
    return 100 * float(jiwer.cer("\n".join(wanted), "\n".join(got)))


def test_columns_of_a_text_layer(stage: TextStage, columns: GeneratedPage) -> None:
    page = stage.prepare(_image(columns.pdf))
    assert page.origin is TextOrigin.TEXT_LAYER
    assert _error_rate(columns, page) < 0.1
    assert len(page.lines) == len(columns.lines)
    assert not page.problems


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_scans_any_way_up(stage: TextStage, columns: GeneratedPage, turned: int) -> None:
    page = stage.prepare(_image(as_scan(columns, 150, rotate=turned, codec="jpeg")))
    assert page.origin is TextOrigin.OCR
    assert page.turn.quarter == (360 - turned) % 360
    upright = replace(page, turn=replace(page.turn, quarter=0))
    assert _error_rate(columns, upright) < 0.5


@pytest.mark.parametrize("skew", [-3.0, 1.0, 6.0])
def test_skewed_scans_are_straightened(
    stage: TextStage, columns: GeneratedPage, skew: float
) -> None:
    page = stage.prepare(_image(as_scan(columns, 150, skew=skew, codec="jpeg")))
    assert page.turn.skew == pytest.approx(-skew, abs=0.15)
    straight = replace(page, turn=replace(page.turn, skew=0.0))
    assert _error_rate(columns, straight) < 0.5


def test_worn_scans(stage: TextStage, columns: GeneratedPage) -> None:
    data = as_scan(columns, 130, degrade=True, skew=0.8, codec="jpeg")
    page = stage.prepare(_image(data))
    assert _error_rate(columns, replace(page, turn=replace(page.turn, skew=0.0))) < 2.0


def test_chinese_scans(stage: TextStage) -> None:
    truth = prose.chinese()
    page = stage.prepare(_image(as_scan(truth, 200)))
    assert _error_rate(truth, page) < 1.5


def test_a_scan_with_a_stamp_of_real_text(stage: TextStage, columns: GeneratedPage) -> None:
    page = stage.prepare(_image(mixed(columns)))
    assert page.origin is TextOrigin.MIXED
    (stamp,) = (line for line in page.lines if line.origin is TextOrigin.TEXT_LAYER)
    assert stamp.text == "RECEIVED 14 March 2031, file 20-118"
    assert _error_rate(columns, page) < 0.5


def test_a_lying_text_layer_is_replaced_and_said_so(
    stage: TextStage, columns: GeneratedPage
) -> None:
    image = _image(columns.pdf)
    assert image.text_layer is not None
    nonsense = "".join(c if c.isspace() else "\ufffd" for c in image.text_layer.text)
    lying = replace(image, text_layer=replace(image.text_layer, text=nonsense))
    page = stage.prepare(lying)
    assert page.origin is TextOrigin.OCR
    assert [p.code for p in page.problems] == [ProblemCode.TEXT_LAYER_UNTRUSTED]
    assert _error_rate(columns, page) < 0.5


def test_a_hidden_layer_is_kept_when_it_is_right_and_dropped_when_it_is_not(
    stage: TextStage, columns: GeneratedPage
) -> None:
    image = _image(columns.pdf)
    layer = image.text_layer
    assert layer is not None
    hidden = replace(layer, invisible=np.ones(len(layer), dtype=np.bool_))
    assert stage.prepare(replace(image, text_layer=hidden)).origin is TextOrigin.TEXT_LAYER
    misread = layer.text.translate(str.maketrans("aeionrs", "8cl0mn5"))
    wrong = replace(image, text_layer=replace(hidden, text=misread))
    assert stage.prepare(wrong).origin is TextOrigin.OCR


def test_scans_with_a_hidden_layer_are_read_anew_unless_in_haste(
    columns: GeneratedPage, stage: TextStage
) -> None:
    image = _image(columns.pdf)
    layer = image.text_layer
    assert layer is not None
    hidden = replace(layer, invisible=np.ones(len(layer), dtype=np.bool_))
    scan = replace(image, text_layer=hidden, pictures=(BBox(0, 0, 1, 1),))
    assert stage.prepare(scan).origin is TextOrigin.TEXT_LAYER
    anew = TextStage(EmbeddedSettings()).prepare(scan)
    assert anew.origin is TextOrigin.OCR
    assert not anew.problems
    assert _error_rate(columns, anew) < 0.5


def test_characters_without_meaning_are_read_from_the_picture(
    stage: TextStage, columns: GeneratedPage
) -> None:
    image = _image(columns.pdf)
    layer = image.text_layer
    assert layer is not None
    # An ordinary letter stands for a ligature: the font has no meaning for some of its signs.
    torn = "".join("\ufffd" if c == "f" else c for c in layer.text)
    page = stage.prepare(replace(image, text_layer=replace(layer, text=torn)))
    assert torn.count("\ufffd") > 20
    assert sum(line.text.count("\ufffd") for line in page.lines) < 0.1 * torn.count("\ufffd")
    assert page.origin is TextOrigin.TEXT_LAYER
    assert {line.origin for line in page.lines} == {TextOrigin.TEXT_LAYER, TextOrigin.MIXED}
    assert _error_rate(columns, page) < 0.5


def test_ocr_can_be_forced_and_forbidden(columns: GeneratedPage) -> None:
    image = _image(columns.pdf, 110)
    always = TextStage(EmbeddedSettings(fast=True, ocr="always")).prepare(image)
    assert always.origin is TextOrigin.OCR
    assert always.lines
    scan = replace(image, text_layer=None)
    assert TextStage(EmbeddedSettings(ocr="never")).prepare(scan).lines == ()


def test_blank_pages_are_not_read(stage: TextStage) -> None:
    image = _image(prose.one_column().pdf, 60)
    white = replace(image, picture=np.full_like(image.pixels, 255), text_layer=None)
    page = stage.prepare(white)
    assert page.blank
    assert page.lines == ()


def test_white_text_on_white_is_not_on_the_page(stage: TextStage, columns: GeneratedPage) -> None:
    image = _image(columns.pdf)
    pixels = image.pixels.copy()
    half = pixels.shape[0] // 2
    pixels[half:] = 255
    page = stage.prepare(replace(image, picture=pixels))
    assert page.lines
    assert all(line.box.y0 < half for line in page.lines)


def test_a_missing_language_pack_is_said_and_the_page_still_read(columns: GeneratedPage) -> None:
    stage = TextStage(EmbeddedSettings(fast=True, languages=("xxx",)))
    page = stage.prepare(_image(as_scan(columns, 110, codec="jpeg")))
    assert [p.code for p in page.problems] == [ProblemCode.LANGUAGE_PACK_MISSING]
    assert page.lines
