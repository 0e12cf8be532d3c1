"""PDF pages as drawn: geometry, bounds, forms and annotations."""

from __future__ import annotations

import numpy as np
import pytest

from moonpress.document import PageImage
from moonpress.errors import PageUnrenderable
from moonpress.sources.base import RenderRequest
from tests.sources.raw_pdf import RawPage, form, raw_pdf, text
from tests.sources.samples import REQUEST, draw

# A black square of 100 points in the corner that is left and below on the page as written.
_SQUARE = "0 0 100 100 re f"


def page(content: str = _SQUARE, entries: str = "", request: RenderRequest = REQUEST) -> PageImage:
    return draw(raw_pdf(RawPage(content, entries)), request=request)


def dark(image: PageImage, x: float, y: float) -> bool:
    """Whether the page is dark at a point in fractions."""
    height, width = image.pixels.shape[:2]
    return bool(image.pixels[int(y * height), int(x * width)].mean() < 128)


def corners(image: PageImage) -> str:
    """Names of the dark corners."""
    points = {
        "top left": (0, 0),
        "top right": (1, 0),
        "bottom left": (0, 1),
        "bottom right": (1, 1),
    }
    near = {name: (0.02 + 0.96 * x, 0.02 + 0.96 * y) for name, (x, y) in points.items()}
    return ", ".join(name for name, (x, y) in near.items() if dark(image, x, y))


def size(image: PageImage) -> tuple[int, int]:
    return image.size.width_px, image.size.height_px


def test_a_page_is_drawn_in_rgb_on_white_at_the_dpi_asked_for() -> None:
    image = page("1 0 0 rg 0 0 306 792 re f", request=RenderRequest(150, 8_000_000))
    assert image.pixels.shape == (1650, 1275, 3)
    assert image.pixels.dtype == np.uint8
    assert image.size.dpi == pytest.approx(150)
    assert (image.size.width_pt, image.size.height_pt) == (612, 792)
    assert image.pixels[800, 100].tolist() == [255, 0, 0]
    assert image.pixels[800, 1200].tolist() == [255, 255, 255]
    assert image.problems == ()
    assert image.number == 1


@pytest.mark.parametrize(
    ("rotate", "corner", "shape"),
    [
        (0, "bottom left", (612, 792)),
        (90, "top left", (792, 612)),
        (180, "top right", (612, 792)),
        (270, "bottom right", (792, 612)),
        (-90, "bottom right", (792, 612)),
        (450, "top left", (792, 612)),
        (45, "bottom left", (612, 792)),
    ],
)
def test_rotation(rotate: int, corner: str, shape: tuple[int, int]) -> None:
    image = page(entries=f"/Rotate {rotate}")
    assert corners(image) == corner
    assert size(image) == shape


@pytest.mark.parametrize(
    ("entries", "shape", "corner"),
    [
        ("/MediaBox [0 0 200 300]", (200, 300), "bottom left"),
        ("/MediaBox [200 300 0 0]", (200, 300), "bottom left"),
        ("/MediaBox [-100 -200 100 100]", (200, 300), "top right"),
        ("/CropBox [50 50 250 350]", (200, 300), "bottom left"),
        ("/CropBox [-500 -500 5000 5000]", (612, 792), "bottom left"),
        ("/CropBox [5000 5000 6000 6000]", (612, 792), "bottom left"),
        ("/MediaBox [0 0 0 0]", (612, 792), "bottom left"),
        ("/MediaBox [0 0 nan 100]", (612, 792), "bottom left"),
        ("/MediaBox [0 0 3 3]", (3, 3), "top left, top right, bottom left, bottom right"),
    ],
)
def test_page_boxes(entries: str, shape: tuple[int, int], corner: str) -> None:
    image = page(entries=entries)
    assert size(image) == shape
    assert corners(image) == corner


def test_user_unit_counts_for_points_and_pixels() -> None:
    first = RawPage(text((10, 10), "Wide", size=10), "/MediaBox [0 0 200 300] /UserUnit 2.5")
    data = raw_pdf(first, RawPage(text((10, 10), "Plain", size=10)))
    image = draw(data)
    assert (image.size.width_pt, image.size.height_pt) == (500, 750)
    assert size(image) == (500, 750)
    assert image.text_layer is not None
    assert image.text_layer.sizes[0] == pytest.approx(25)
    assert size(draw(data, 2)) == (612, 792)


def test_huge_pages_are_bounded_by_pixels_and_say_so() -> None:
    image = page(entries="/MediaBox [0 0 14400 7200]", request=RenderRequest(200, 2_000_000))
    assert size(image) == (2000, 1000)
    assert [problem.code for problem in image.problems] == ["downscaled"]
    assert "10 dpi instead of 200" in image.problems[0].message
    assert "200 x 100 inches" in image.problems[0].message


def test_strips_stay_within_the_bounds() -> None:
    image = page(entries="/MediaBox [0 0 14400 1]", request=RenderRequest(600, 8_000_000))
    assert size(image)[0] <= 32_000
    assert size(image)[1] == 2
    assert image.problems
    tiny = page(entries="/MediaBox [0 0 14400 1]", request=RenderRequest(200, 100))
    assert size(tiny)[0] * size(tiny)[1] <= 100


def test_the_width_wished_for_is_kept_without_a_problem() -> None:
    image = page(request=RenderRequest(200, 8_000_000, max_image_width=800))
    assert size(image) == (800, 1035)
    assert image.problems == ()
    assert size(page(request=RenderRequest(72, 8_000_000, max_image_width=800))) == (612, 792)


def _widget(value: str) -> dict[int, bytes | str]:
    return {
        100: (
            "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /F 4 /Rect [100 600 300 620] "
            f"/V ({value}) /DA (/F1 12 Tf 0 g) /P 10 0 R /AP << /N 101 0 R >> >>"
        ),
        101: form(
            f"/Tx BMC q {text((2, 5), value)} Q EMC",
            "/BBox [0 0 200 20]",
        ),
    }


_ACROFORM = "/AcroForm << /Fields [100 0 R] /DA (/F1 12 Tf 0 g) /DR << /Font << /F1 3 0 R >> >> >>"


def test_form_fields_are_drawn_and_read() -> None:
    data = raw_pdf(
        RawPage(text((100, 700), "Name:"), annotations=(100,)),
        objects=_widget("Ada Lovelace"),
        catalog=_ACROFORM,
    )
    image = draw(data)
    assert (image.pixels[172:192, 100:300] < 128).any()
    assert image.text_layer is not None
    assert "Name:" in image.text_layer.text
    at = image.text_layer.text.index("Ada Lovelace")
    assert image.text_layer.boxes[at, :2] == pytest.approx((102 / 612, 178 / 792), abs=0.006)


def test_reading_a_form_twice_gives_the_same() -> None:
    from moonpress.sources.open import open_source

    data = raw_pdf(RawPage(annotations=(100,)), objects=_widget("Ada Lovelace"), catalog=_ACROFORM)
    source = open_source(data, name="it", password=None)
    first, second = source.page(1, REQUEST), source.page(1, REQUEST)
    assert first.text_layer is not None
    assert second.text_layer is not None
    assert first.text_layer.text == second.text_layer.text
    assert np.array_equal(first.pixels, second.pixels)


def test_notes_are_drawn_and_read() -> None:
    note = "<< /Type /Annot /Subtype /FreeText /F 4 /Rect [100 600 300 620] /AP << /N 101 0 R >> >>"
    appearance = form(text((2, 5), "A note"), "/BBox [0 0 200 20]")
    data = raw_pdf(RawPage(annotations=(100,)), objects={100: note, 101: appearance})
    image = draw(data)
    assert (image.pixels < 128).any()
    assert image.text_layer is not None
    assert image.text_layer.text.strip() == "A note"


def test_a_page_that_is_no_page_is_an_error_of_that_page_only() -> None:
    data = raw_pdf(RawPage(), RawPage(), RawPage()).replace(b"12 0 R 14 0 R", b"99 0 R 14 0 R")
    assert size(draw(data, 1)) == size(draw(data, 3)) == (612, 792)
    with pytest.raises(PageUnrenderable) as caught:
        draw(data, 2)
    assert str(caught.value).startswith("it, page 2: the page is damaged")
