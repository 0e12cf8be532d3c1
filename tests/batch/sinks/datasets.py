"""What is in the place that a sink wrote to, read by the tools that people use."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Metadata,
    Page,
    PageSize,
    PageStatus,
)


def make_document(
    words: str, *, figure: bool = False, status: PageStatus = PageStatus.OK
) -> Document:
    box = BBox(0.1, 0.1, 0.9, 0.2)
    blocks = [Block("p1-b1", BlockKind.TEXT, box, f"<p>{words}</p>")]
    if figure:
        blocks.append(Block("p1-b2", BlockKind.FIGURE, box, ""))
    page = Page(1, PageSize(612, 792, 612, 792), status, blocks=tuple(blocks))
    return Document("x.pdf", "0" * 64, (page,), Metadata(1, "application/pdf", engine="by hand"))


def read_rows(root: Path) -> list[dict[str, Any]]:
    """Rows of all files of a dataset, in order; every one has to be whole."""
    rows: list[dict[str, Any]] = []
    for path in sorted(root.glob("part-*")):
        if path.suffix == ".parquet":
            rows += pq.read_table(path).to_pylist()
        else:
            with path.open("rb") as file:
                text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
                rows += [json.loads(line) for line in text]
    return rows


def documents(kind: str, root: Path) -> dict[str, list[str]]:
    """Markdown of every document by id; one in each list unless something is wrong."""
    found: dict[str, list[str]] = {}
    if kind == "folder":
        for path in sorted(root.rglob("*.md")):
            found.setdefault(path.parent.relative_to(root).as_posix(), []).append(path.read_text())
            json.loads(path.with_suffix(".json").read_text())
        return found
    for row in read_rows(root):
        found.setdefault(row["id"], []).append(row["markdown"])
    return found


def leftovers(root: Path) -> list[str]:
    """Unfinished files and folders."""
    return sorted(path.name for path in root.rglob(".moonpress-*"))
