"""Tests of `moonpress.outputs.markdown_pieces` on the recorded replies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moonpress.document import BBox, Block, BlockKind, PageStatus, Problem, RenderOptions
from moonpress.outputs.markdown_pieces import MarkdownPieces
from tests.parsing.test_chandra_replies import NAMES, document

OPTIONS = (RenderOptions(), RenderOptions(headers_footers=True))


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "all"])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_all_pieces_are_the_whole(name: str, share: float, options: RenderOptions) -> None:
    read = document(name)
    blocks = read.pages[0].blocks
    pieces = MarkdownPieces(options)
    given = [pieces.block(block) for block in blocks[: round(share * len(blocks))]]
    text = "".join([*given, *pieces.end(read)])
    assert text == read.to_markdown(options)


def test_that_a_page_was_read_in_part_comes_last_when_its_blocks_came_first() -> None:
    block = Block("p1-b1", BlockKind.TEXT, BBox(0, 0, 1, 1), "<p>Words</p>")
    read = document(NAMES[0])
    page = replace(
        read.pages[0],
        blocks=(block,),
        status=PageStatus.PARTIAL,
        problems=(Problem("output-cut", "cut"),),
    )
    read = replace(read, pages=(page,))
    pieces = MarkdownPieces(RenderOptions())
    first = pieces.block(block)
    rest = "".join(pieces.end(read))
    assert first == "Words"
    assert rest == "\n\n<!-- page 1 was read in part only: cut -->\n"
    assert "".join(MarkdownPieces(RenderOptions()).end(read)) == read.to_markdown()
