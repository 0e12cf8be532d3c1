"""What is known of a reading while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.document import BBox, Block, BlockKind, Page, PageStatus
from moonpress.errors import InputMissing
from moonpress.sources.base import SourceInfo
from moonpress.ui.reading import Reading, Stage, block_of

INFO = SourceInfo("application/pdf", 4, "0" * 64, 100)


def page(number: int, status: PageStatus = PageStatus.OK) -> Page:
    block = Block(
        f"p{number}-b1", BlockKind.TEXT, BBox(0, 0, 1, 1), f"<p>Leaf {number}</p>", confidence=0.5
    )
    return Page(number, None, status, blocks=(block,))


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    changes: list[None] = []
    return Reading("embedded", tmp_path, lambda: changes.append(None))


def test_marks_follow_each_page(reading: Reading) -> None:
    reading.start((1, 2, 4))
    assert reading.marks(4) == "ww.w"
    reading.page_begun(2)
    assert reading.marks(4) == "wb.w"
    reading.page_done(page(2))
    reading.page_done(page(4, PageStatus.FAILED))
    assert reading.marks(4) == "wo.f"
    assert reading.done_count == 2
    reading.end(Stage.CANCELLED)
    assert reading.marks(4) == ".o.f"


def test_a_page_can_be_looked_at_while_it_is_written(reading: Reading) -> None:
    reading.start((1, 2))
    reading.page_begun(1)
    with pytest.raises(InputMissing):
        reading.page(1)
    reading.block_done(1, page(1).blocks[0], 7)
    assert reading.written() == {1: 1}
    assert [block.id for block in reading.page(1).blocks] == ["p1-b1"]
    reading.page_done(page(1))
    assert (reading.written(), reading.page(1)) == ({}, page(1))
    reading.block_done(2, page(2).blocks[0], 7)
    reading.end(Stage.CANCELLED)
    assert reading.written() == {}


def test_a_bar_is_never_full_before_its_page_is_out(reading: Reading) -> None:
    reading.start((1, 2))
    reading.page_begun(1)
    assert reading.under_way() == {1: 0.0}, "nobody knows how long a page takes"
    reading.page_done(page(1))
    reading.page_begun(2)
    for _ in range(1000):
        far = reading.under_way()[2]
    assert 0 <= far <= 0.95


def test_a_document_has_the_pages_so_far_in_order(reading: Reading) -> None:
    reading.start((1, 2))
    with pytest.raises(InputMissing):
        reading.document("a.pdf", INFO)
    reading.page_done(page(2))
    reading.page_done(page(1))
    document = reading.document("a.pdf", INFO)
    assert [one.number for one in document.pages] == [1, 2]
    assert document.to_markdown() == "Leaf 1\n\nLeaf 2\n"


def test_an_edit_takes_the_place_of_what_was_read_and_has_no_probability(reading: Reading) -> None:
    reading.start((1,))
    reading.page_done(page(1))
    reading.edit("p1-b1", "<p>Mine</p>")
    block = block_of(reading.document("a.pdf", INFO).pages, "p1-b1")
    assert (block.html, block.confidence) == ("<p>Mine</p>", None)
    reading.edit("p1-b1", None)
    assert "Leaf 1" in reading.document("a.pdf", INFO).to_markdown()


def test_reading_a_page_again_drops_its_edits_alone(reading: Reading) -> None:
    reading.start((1, 2))
    for number in (1, 2):
        reading.page_done(page(number))
        reading.edit(f"p{number}-b1", "<p>Mine</p>")
    reading.start((2,))
    assert set(reading.edits) == {"p1-b1"}
    assert set(reading.pages) == {1}


def test_a_block_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(InputMissing):
        block_of([page(1)], "p9-b9")
