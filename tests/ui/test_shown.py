"""A page as the browser is given it, and as files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    Problem,
)
from moonpress.ui.export import archive, stem_of
from moonpress.ui.plain import plain
from moonpress.ui.shown import page_text, shown_page

BLOCKS = (
    Block("p2-b1", BlockKind.PAGE_HEADER, BBox(0, 0, 1, 0.1), "<p>Top</p>"),
    Block("p2-b2", BlockKind.TEXT, BBox(0, 0.1, 1, 0.2), "<p>goes on</p>", continues="p1-b9"),
    Block("p2-b3", BlockKind.FORMULA, BBox(0, 0.2, 1, 0.3), '<math display="block">x^2</math>'),
    Block("p2-b4", BlockKind.FIGURE, BBox(0, 0.3, 1, 0.6), '<img alt="A cat">', confidence=0.61),
    Block("p2-b5", BlockKind.TEXT, BBox(0, 0.6, 1, 1), "<p>bad<script>alert(1)</script></p>"),
)
PAGE = Page(
    2,
    PageSize(612, 792, 1000, 1294),
    PageStatus.PARTIAL,
    blocks=BLOCKS,
    problems=(Problem("low-confidence", "few letters are sure", "p2-b4"),),
)
DOCUMENT = Document("A/b: c.pdf", "0" * 64, (PAGE,), Metadata(3, "application/pdf"))


def test_every_block_has_its_markup_and_its_box() -> None:
    shown = shown_page(PAGE, figures={"p2-b4": "/crop"}, edited=frozenset({"p2-b2"}))
    assert [one["id"] for one in shown["blocks"]] == [block.id for block in BLOCKS]
    for block in BLOCKS:
        assert f'id="{block.id}"' in shown["html"]
    assert shown["blocks"][3]["confidence"] == 0.61
    assert shown["blocks"][1]["edited"]
    assert shown["problems"][0]["block"] == "p2-b4"
    assert '<img alt="A cat" src="/crop">' in shown["html"]
    assert "<msup>" in shown["html"], "formulas come typeset, without a script"


def test_markup_of_an_engine_is_cleaned_once_more() -> None:
    assert "<script" not in shown_page(PAGE, figures={}, edited=frozenset())["html"]


def test_a_page_as_text_is_that_page_alone() -> None:
    assert "goes on" in page_text(DOCUMENT, 2, "markdown")
    assert page_text(DOCUMENT, 1, "markdown").strip() == ""


def test_the_archive_has_all_formats_and_figures(tmp_path: Path) -> None:
    crop = tmp_path / "p2-b4.png"
    crop.write_bytes(b"png")
    with zipfile.ZipFile(io.BytesIO(archive(DOCUMENT, {"p2-b4": crop}))) as files:
        names = set(files.namelist())
        assert names >= {f"b_ c{end}" for end in (".md", ".html", ".json", ".txt", ".chunks.jsonl")}
        assert files.read("b_ c_files/p2-b4.png") == b"png"


def test_names_of_files_cannot_lead_elsewhere() -> None:
    assert stem_of("../../etc/passwd.pdf") == "passwd"
    assert stem_of("C:\\temp\\a.pdf") == "a"
    assert stem_of("..") == "document"
    assert stem_of("x" * 500 + ".pdf") == "x" * 80


def test_a_file_name_is_no_markdown() -> None:
    assert plain("![x](http://e)\n:red[y] $z$") == (r"\!\[x\]\(http\:\/\/e\) \:red\[y\] \$z\$")
