"""Check boxes found by their pixels on hand-made pages."""

from __future__ import annotations

from dataclasses import replace

import cv2
import pytest

from moonpress.document import TextOrigin
from moonpress.engines.embedded.checkboxes import mark_boxes
from moonpress.engines.embedded.types import UprightPage
from tests.engines.embedded.pages import line, page


def _page(
    text: str = "By post", *, box: tuple[int, int, int, int] | None = (100, 201, 116, 217)
) -> UprightPage:
    """A line at 130, 200 of a white page, and a frame where a box should stand."""
    made = page([replace(line(text, 130, 200), origin=TextOrigin.TEXT_LAYER)])
    if box is not None:
        cv2.rectangle(made.pixels, box[:2], box[2:], (0, 0, 0), 2)
    return made


def _read(made: UprightPage) -> str:
    return mark_boxes(made).lines[0].text


def test_an_empty_box() -> None:
    made = mark_boxes(_page())
    (found,) = made.lines
    assert found.text == "☐ By post"
    assert [word.text for word in found.words] == ["☐", "By", "post"]
    assert found.box.x0 == pytest.approx(100, abs=3)


@pytest.mark.parametrize("mark", ["cross", "tick", "fill"])
def test_a_marked_box(mark: str) -> None:
    made = _page()
    if mark == "cross":
        cv2.line(made.pixels, (103, 204), (113, 214), (0, 0, 0), 2)
        cv2.line(made.pixels, (113, 204), (103, 214), (0, 0, 0), 2)
    elif mark == "tick":
        cv2.line(made.pixels, (104, 208), (108, 213), (0, 0, 0), 2)
        cv2.line(made.pixels, (108, 213), (113, 204), (0, 0, 0), 2)
    else:
        cv2.rectangle(made.pixels, (106, 207), (110, 211), (0, 0, 0), -1)
    assert _read(made) == "☒ By post"


def test_what_is_no_box() -> None:
    assert _read(_page(box=None)) == "By post"
    bullet = _page()
    cv2.rectangle(bullet.pixels, (100, 201), (116, 217), (0, 0, 0), -1)
    assert _read(bullet) == "By post"
    ring = _page(box=None)
    cv2.circle(ring.pixels, (108, 209), 8, (0, 0, 0), 2)
    assert _read(ring) == "By post"
    cell = _page()
    cv2.line(cell.pixels, (20, 201), (400, 201), (0, 0, 0), 2)
    assert _read(cell) == "By post"
    assert _read(_page(box=(60, 160, 116, 240))) == "By post"
    assert _read(_page("7")) == "7"


def test_a_box_between_words() -> None:
    words = (*line("yes", 130, 200).words, *line("no", 230, 200).words)
    both = replace(line("yes", 130, 200), text="yes no", words=words)
    made = replace(_page(), lines=(both,))
    cv2.rectangle(made.pixels, (200, 201), (216, 217), (0, 0, 0), 2)
    assert _read(made) == "☐ yes ☐ no"


@pytest.mark.parametrize(("read", "text"), [("By post", "☐ By post"), ("口 By post", "☐ By post")])
def test_a_box_that_a_recogniser_took_into_its_line(read: str, text: str) -> None:
    made = replace(_page(), lines=(line(read, 95, 200),))
    assert _read(made) == text
