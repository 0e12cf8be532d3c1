"""The chunks output: JSON Lines for retrieval, one chunk a line.

Owns the names and order of the fields. Never decides what goes into a chunk: see `chunking`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moonpress.document import Document, RenderOptions
from moonpress.document.html import clean_text
from moonpress.outputs.chunking import Chunk, chunk_document
from moonpress.outputs.json_lines import json_line

_DIGITS_OF_SUM = 16


@dataclass(frozen=True, slots=True)
class ChunksOutput:
    """Renders documents as chunks."""

    name: str = "chunks"
    suffix: str = ".chunks.jsonl"

    def render(self, document: Document, options: RenderOptions) -> str:
        """A JSON object a line; pages that were not wholly read have one without text."""
        return "".join(
            json_line(_row(chunk, number, document))
            for number, chunk in enumerate(chunk_document(document, options), start=1)
        )


def _row(chunk: Chunk, number: int, document: Document) -> dict[str, Any]:
    boxes: dict[int, list[list[float]]] = {chunk.page: []}
    for place in chunk.places:
        box = place.bbox
        boxes.setdefault(place.page, []).append([box.x0, box.y0, box.x1, box.y1])
    return {
        "id": f"{document.sha256[:_DIGITS_OF_SUM]}-{number}",
        "text": clean_text(chunk.text),
        "headings": list(chunk.headings),
        "pages": sorted(boxes),
        "boxes": [{"page": page, "bboxes": boxes[page]} for page in sorted(boxes)],
        "kinds": list(dict.fromkeys(str(place.block.kind) for place in chunk.places)),
        "blocks": [place.block.id for place in chunk.places],
        "tokens_estimate": chunk.tokens,
        "problem": clean_text(chunk.problem) or None,
        "source": clean_text(document.source),
        "sha256": document.sha256,
    }


OUTPUT = ChunksOutput()
