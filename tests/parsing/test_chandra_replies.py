"""Replies written by hand, through the pipeline's steps to every output, against files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from moonpress.document import (
    Document,
    LayoutReply,
    Metadata,
    Page,
    PageReading,
    PageSize,
    ProblemCode,
    RenderOptions,
)
from moonpress.document.html import visible_text
from moonpress.document.rendering import find_output
from moonpress.parsing.layout import _KINDS
from moonpress.pipeline.furniture import mark_furniture
from moonpress.pipeline.headings import level_headings
from moonpress.pipeline.layout_reply import with_blocks

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "chandra"
NAMES = sorted(path.stem for path in FOLDER.glob("*.reply"))
SIZE = PageSize(612.0, 792.0, 1632, 2112)
OPTIONS = RenderOptions()


def document(name: str) -> Document:
    html = (FOLDER / f"{name}.reply").read_bytes().decode()
    scale = 1024.0 if name == "boxes_of_version_1" else 1000.0
    reading = with_blocks(PageReading(layout=LayoutReply(html, scale)), 1)
    page = Page(
        number=1,
        size=SIZE,
        status=reading.status,
        blocks=reading.blocks,
        problems=reading.problems,
    )
    pages = level_headings(mark_furniture([page]))
    metadata = Metadata(page_count=1, media_type="image/png", engine="vllm")
    return Document(f"{name}.png", "0" * 64, tuple(pages), metadata)


@pytest.mark.parametrize("output", ["markdown", "html", "json"])
@pytest.mark.parametrize("name", NAMES)
def test_reply_comes_out_as_agreed(name: str, output: str, request: pytest.FixtureRequest) -> None:
    maker = find_output(output)
    text = maker.render(document(name), OPTIONS)
    if output == "html":
        text = text[text.index("<body") :]
    golden = FOLDER / f"{name}{maker.suffix}"
    if request.config.getoption("--refresh-golden", default=False):
        golden.write_bytes(text.encode())
    assert text == golden.read_bytes().decode()


def test_every_label_and_every_defect_is_there() -> None:
    replies = "".join((FOLDER / f"{name}.reply").read_text() for name in NAMES).lower()
    missing = [label for label in _KINDS if label not in replies.replace("-", "")]
    assert missing == []
    seen = Counter(problem.code for name in NAMES for problem in document(name).pages[0].problems)
    assert set(seen) >= {
        ProblemCode.BOX_MISSING,
        ProblemCode.BOX_MALFORMED,
        ProblemCode.LABEL_UNKNOWN,
        ProblemCode.TEXT_OUTSIDE_BLOCK,
        ProblemCode.BLOCK_UNCLOSED,
        ProblemCode.STRAY_TAG,
    }
    assert len(NAMES) >= 25


@pytest.mark.parametrize("name", NAMES)
def test_boxes_lie_in_the_page(name: str) -> None:
    for block in document(name).pages[0].blocks:
        box = block.bbox
        assert 0 <= box.x0 <= box.x1 <= 1
        assert 0 <= box.y0 <= box.y1 <= 1


def test_version_1_counts_to_1024() -> None:
    last = document("boxes_of_version_1").pages[0].blocks[-1]
    assert (last.bbox.x0, last.bbox.y0, last.bbox.x1, last.bbox.y1) == (0.0, 0.5, 1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("text_outside_blocks", ["Here is the page", "Between two", "A paragraph", "The end"]),
        ("unclosed_blocks", ["Never closed", "Opens inside", "one", "two", "three"]),
        ("cut_in_a_tag", ["The first block", "Alpha", "Beta"]),
        ("nested_divs", ["Left column", "Right column"]),
        ("plain_noise", ["1 < 2 and a < b"]),
        ("equations", ["x<y"]),
    ],
)
def test_nothing_visible_is_lost(name: str, words: list[str]) -> None:
    found = " ".join(visible_text(block.html) for block in document(name).pages[0].blocks)
    for word in words:
        assert word in found


def test_a_page_said_to_be_blank_is() -> None:
    assert document("blank_page").pages[0].status == "blank"
