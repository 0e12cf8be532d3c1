"""Documents as the bodies of answers, and errors too.

Owns the shapes. Never reads anything.
"""

from __future__ import annotations

import base64
from typing import Any, Literal, TypeAlias

import orjson
from fastapi import Request
from fastapi.responses import JSONResponse

from moonpress.document import Block, BlockKind, Document, Page, PageStatus, RenderOptions
from moonpress.errors import EngineBusy, MoonpressError
from moonpress.serving.service import Reading

OutputFormat: TypeAlias = Literal["markdown", "html", "json", "text", "chunks", "layout"]
# What a Chandra model calls each kind of block.
_LABELS = {
    BlockKind.CAPTION: "Caption",
    BlockKind.FOOTNOTE: "Footnote",
    BlockKind.FORMULA: "Equation-Block",
    BlockKind.LIST: "List-Group",
    BlockKind.PAGE_HEADER: "Page-Header",
    BlockKind.PAGE_FOOTER: "Page-Footer",
    BlockKind.FIGURE: "Figure",
    BlockKind.HEADING: "Section-Header",
    BlockKind.TABLE: "Table",
    BlockKind.COMPLEX: "Complex-Block",
    BlockKind.CODE: "Code-Block",
    BlockKind.FORM: "Form",
    BlockKind.CONTENTS: "Table-Of-Contents",
    BlockKind.CHEMISTRY: "Chemical-Block",
    BlockKind.DIAGRAM: "Diagram",
    BlockKind.BIBLIOGRAPHY: "Bibliography",
    BlockKind.BLANK: "Blank-Page",
}


def content_of(document: Document, form: OutputFormat, figures: dict[str, str]) -> Any:
    """A document in one format: text, or an object for ``json``.

    Args:
        document: What was read.
        form: The format; ``layout`` is HTML as Chandra models write it.
        figures: Address of each figure's picture, by block id.
    """
    if form == "layout":
        return "\n".join(layout_html(block) for page in document.pages for block in page.blocks)
    text = document.render(form, RenderOptions(figures=figures))
    return orjson.loads(text) if form == "json" else text


def layout_html(block: Block) -> str:
    """A block as Chandra models write it, boxes from 0 to 1000."""
    box = block.bbox
    places = " ".join(str(round(1000 * at)) for at in (box.x0, box.y0, box.x1, box.y1))
    label = _LABELS.get(block.kind, "Text")
    return f'<div data-bbox="{places}" data-label="{label}">{block.html}</div>'


def document_answer(reading: Reading, form: OutputFormat) -> dict[str, Any]:
    """The body of an answer about a whole document."""
    document = reading.document
    figures = {key: path.name for key, path in reading.figures.items()}
    return {
        "object": "ocr.document",
        "status": status_of(document),
        "source": document.source,
        "sha256": document.sha256,
        "engine": document.metadata.engine,
        "pages": [page_facts(page) for page in document.pages],
        "usage": usage_of(document.pages),
        "format": form,
        "content": content_of(document, form, figures),
        "figures": {
            path.name: base64.b64encode(path.read_bytes()).decode("ascii")
            for path in reading.figures.values()
        },
    }


def page_answer(document: Document, page: Page, form: OutputFormat) -> dict[str, Any]:
    """The body of an event about one page."""
    alone = Document(document.source, document.sha256, (page,), document.metadata)
    return {"object": "ocr.page", **page_facts(page), "content": content_of(alone, form, {})}


def block_answer(number: int, block: Block) -> dict[str, Any]:
    """The body of an event about one block; the outputs are made of its HTML."""
    box = block.bbox
    return {
        "object": "ocr.block",
        "page": number,
        "id": block.id,
        "kind": block.kind.value,
        "bbox": [box.x0, box.y0, box.x1, box.y1],
        "html": block.html,
        "level": block.level,
        "confidence": block.confidence,
    }


def page_facts(page: Page) -> dict[str, Any]:
    """How the reading of a page ended."""
    return {
        "number": page.number,
        "status": page.status.value,
        "problems": [{"code": one.code, "message": one.message} for one in page.problems],
    }


def status_of(document: Document) -> str:
    """``ok``, ``partial`` or ``failed``, over all pages."""
    statuses = {page.status for page in document.pages}
    if statuses == {PageStatus.FAILED}:
        return "failed"
    return "partial" if statuses & {PageStatus.FAILED, PageStatus.PARTIAL} else "ok"


def usage_of(pages: tuple[Page, ...]) -> dict[str, int]:
    """Tokens, in the words of the OpenAI API."""
    prompt = sum(page.usage.prompt_tokens or 0 for page in pages)
    output = sum(page.usage.output_tokens or 0 for page in pages)
    return usage_of_tokens(len(pages), prompt, output)


def usage_of_tokens(pages: int, prompt: int, output: int) -> dict[str, int]:
    """The same, from what was counted."""
    return {
        "pages": pages,
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }


def error_body(error: MoonpressError) -> dict[str, Any]:
    """An error in the shape that OpenAI's clients know, with what we know besides."""
    return {
        "error": {
            "message": str(error),
            "type": error.code,
            "code": error.code,
            "param": None,
            "hint": error.hint or None,
            "page": error.page,
        }
    }


async def error_answer(_request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that failed; FastAPI calls it for every `MoonpressError`."""
    if not isinstance(error, MoonpressError):
        raise error
    if isinstance(error, EngineBusy):
        headers = {"Retry-After": f"{max(round(error.retry_after), 1)}"}
        return JSONResponse(error_body(error), 429, headers)
    return JSONResponse(error_body(error), error.http_status)
