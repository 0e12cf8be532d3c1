"""Pictures, ruling lines and links of PDF pages."""

from __future__ import annotations

import time

import pytest

from moonpress.document import PageImage
from tests.sources.raw_pdf import RawPage, form, picture, raw_pdf
from tests.sources.samples import draw

_RED = b"\xff\x00\x00"


def page(content: str, entries: str = "", **files: object) -> PageImage:
    raw = RawPage(content, entries, files.pop("xobjects", {}), files.pop("annotations", ()))  # type: ignore[arg-type]
    return draw(raw_pdf(raw, **files))  # type: ignore[arg-type]


def pictures(image: PageImage) -> list[tuple[float, ...]]:
    """Boxes in points from the top left."""
    return [(box.x0 * 612, box.y0 * 792, box.x1 * 612, box.y1 * 792) for box in image.pictures]


def rulings(content: str, entries: str = "") -> list[tuple[int, ...]]:
    """In whole points from the top left."""
    image = page(content, entries)
    width, height = image.size.width_pt, image.size.height_pt
    scale = (width, height, width, height)
    return sorted(
        tuple(round(float(value) * side) for value, side in zip(line, scale, strict=True))
        for line in image.rulings
    )


def test_pictures_have_the_box_where_they_lie() -> None:
    image = page(
        "q 200 0 0 100 50 600 cm /I Do Q",
        xobjects={"I": 100},
        objects={100: picture(4, 2, _RED)},
    )
    assert pictures(image) == [pytest.approx((50, 92, 250, 192))]
    assert image.pixels[150, 150].tolist() == [255, 0, 0]


def test_pictures_in_forms_turned_and_on_turned_pages() -> None:
    inside = {
        100: picture(4, 2, _RED),
        101: form("q 0 100 -200 0 200 0 cm /I Do Q", "/Resources << /XObject << /I 100 0 R >> >>"),
    }
    upright = page("q 1 0 0 1 50 600 cm /A Do Q", xobjects={"A": 101}, objects=inside)
    assert pictures(upright) == [pytest.approx((50, 92, 250, 192))]
    turned = page("q 1 0 0 1 50 600 cm /A Do Q", "/Rotate 90", xobjects={"A": 101}, objects=inside)
    (box,) = turned.pictures
    assert (box.x0 * 792, box.y0 * 612) == pytest.approx((600, 50))
    assert (box.x1 * 792, box.y1 * 612) == pytest.approx((700, 250))


def test_pictures_are_as_large_as_their_clip_leaves_them() -> None:
    image = page(
        "q 100 650 50 25 re W n q 200 0 0 100 50 600 cm /I Do Q Q",
        xobjects={"I": 100},
        objects={100: picture(4, 2, _RED)},
    )
    assert pictures(image) == [pytest.approx((100, 117, 150, 142))]


def test_pictures_off_the_page_or_without_size_do_not_count() -> None:
    image = page(
        "q 100 0 0 100 2000 0 cm /I Do Q q 1 0 0 1 50 50 cm /I Do Q",
        xobjects={"I": 100},
        objects={100: picture(4, 2, _RED)},
    )
    assert image.pictures == ()


def test_stroked_lines_and_rectangles() -> None:
    assert rulings("50 700 m 250 700 l S 60 100 m 60 300 l S") == [
        (50, 92, 250, 92),
        (60, 492, 60, 692),
    ]
    assert rulings("100 100 200 50 re S") == [
        (100, 642, 100, 692),
        (100, 642, 300, 642),
        (100, 692, 300, 692),
        (300, 642, 300, 692),
    ]


def test_thin_filled_rectangles_are_lines_and_others_have_edges() -> None:
    assert rulings("50 700 200 1 re f") == [(50, 92, 250, 92)]
    assert rulings("49 100 2 200 re f 0.9 g 300 100 100 100 re f") == [
        (50, 492, 50, 692),
        (300, 592, 300, 692),
        (300, 592, 400, 592),
        (300, 692, 400, 692),
        (400, 592, 400, 692),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "50 700 m 250 600 l S",
        "50 700 m 51 700 l S",
        "1 g 100 100 100 100 re f",
        "100 100 100 100 re n",
        "50 700 m 100 750 200 750 250 700 c S",
        "100 100 m 300 100 l 200 300 l f",
        "5000 700 m 6000 700 l S",
    ],
)
def test_what_is_no_ruling(content: str) -> None:
    assert rulings(content) == []


def test_rulings_are_cut_at_the_page_and_follow_matrices_and_rotation() -> None:
    assert rulings("-500 700 m 5000 700 l S") == [(0, 92, 612, 92)]
    assert rulings("q 2 0 0 2 10 10 cm 20 300 m 120 300 l S Q") == [(50, 182, 250, 182)]
    assert rulings("50 700 m 250 700 l S", "/Rotate 90") == [(700, 50, 700, 250)]


def test_the_common_edge_of_two_cells_counts_once() -> None:
    assert len(rulings("100 100 50 50 re S 150 100 50 50 re S")) == 7


def test_a_map_of_many_objects_takes_little_time() -> None:
    content = "".join(
        f"{x % 600} {x // 600} m {x % 600 + 7} {x // 600} l S\n" for x in range(100_000)
    )
    data = raw_pdf(RawPage(content))
    began = time.process_time()
    image = draw(data)
    assert time.process_time() - began < 5
    assert 0 < len(image.rulings) <= 4_000


def _link(number: int, rect: str, target: str) -> dict[int, str]:
    return {number: f"<< /Type /Annot /Subtype /Link /Rect [{rect}] /Border [0 0 0] {target} >>"}


def test_links() -> None:
    objects = {
        **_link(100, "100 600 200 620", "/A << /S /URI /URI (https://example.org/a?b=c) >>"),
        **_link(101, "100 500 200 520", "/Dest [12 0 R /Fit]"),
        **_link(102, "100 400 200 420", "/A << /S /GoTo /D [10 0 R /Fit] >>"),
        **_link(103, "100 300 200 320", "/A << /S /URI /URI (javascript:alert\\(1\\)) >>"),
        **_link(104, "100 200 200 220", "/A << /S /Launch /F (calc.exe) >>"),
        **_link(105, "100 100 200 120", "/A << /S /URI /URI (mailto:a@b.org\n) >>"),
    }
    raw = RawPage("", annotations=tuple(objects))
    image = draw(raw_pdf(raw, RawPage(), objects=objects))
    assert [link.href for link in image.links] == [
        "https://example.org/a?b=c",
        "#p2",
        "#p1",
        "mailto:a@b.org",
    ]
    box = image.links[0].bbox
    assert (box.x0 * 612, box.y0 * 792) == pytest.approx((100, 172))
    assert (box.x1 * 612, box.y1 * 792) == pytest.approx((200, 192))
