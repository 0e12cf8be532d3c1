"""The JSON schema of a document, version 1.0.

Owns the names and types of the JSON output, and their conversion from and to the document model.
Never reads or writes text: see `json`. A field may be added within version 1; a field that goes or
changes its meaning makes version 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from moonpress.document import (
    Agreement,
    BBox,
    Block,
    BlockKind,
    Document,
    Link,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    Problem,
    TextOrigin,
    Usage,
)
from moonpress.document.html import clean_text, visible_text

SCHEMA_VERSION: Literal["1.0"] = "1.0"

Box = Annotated[
    tuple[float, float, float, float],
    Field(description="x0, y0, x1, y1 as fractions of the page, origin top left, y downwards"),
]


class _Model(BaseModel):
    # Unknown fields are let through, so that a file of version 1.1 can be read.
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class LinkModel(_Model):
    """A hyperlink."""

    href: str = Field(description="Target; #p7 for page 7 of this document")
    bbox: Box
    text: str = Field(default="", description="The words under it, where known")


class BlockModel(_Model):
    """A block; blocks of a page are in reading order."""

    id: str = Field(description="Stable within the document: p3-b12 is block 12 of page 3")
    kind: BlockKind
    bbox: Box
    html: str = Field(description="Sanitised HTML; the truth. LaTeX stands in <math>")
    text: str = Field(default="", description="The words of html; derived")
    level: int | None = Field(default=None, description="Heading level over the whole document")
    confidence: float | None = Field(default=None, description="0 to 1, where known")
    links: tuple[LinkModel, ...] = ()
    origin: TextOrigin = Field(default=TextOrigin.MODEL, description="Where the text comes from")
    font_size: float | None = Field(default=None, description="Points, where known")
    caption_for: str | None = Field(default=None, description="Id of the figure or table captioned")
    continues: str | None = Field(
        default=None,
        description="Id of the block on an earlier page that goes on here",
    )
    figure: str | None = Field(default=None, description="Relative link of the crop, if kept")


class SizeModel(_Model):
    """Size of a page as displayed."""

    width_pt: float = Field(description="Points, 1/72 inch")
    height_pt: float = Field(description="Points, 1/72 inch")
    width_px: int = Field(description="Pixels of the picture that was read")
    height_px: int = Field(description="Pixels of the picture that was read")
    dpi: float | None = Field(default=None, description="Pixels per inch; derived")


class ProblemModel(_Model):
    """Something that a reader of the result should know."""

    code: str
    message: str
    block_id: str | None = None


class UsageModel(_Model):
    """What reading a page cost."""

    engine: str = ""
    seconds: float = 0.0
    cpu_seconds: float | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    attempts: int = 1


class AgreementModel(_Model):
    """How far a model's reading and a text layer that can be trusted have the same words."""

    found: float = Field(description="Share of the layer's words that the reading has, 0 to 1")
    backed: float = Field(description="Share of the reading's words that the layer has, 0 to 1")


class PageModel(_Model):
    """A page; every selected page is there once, read or not."""

    number: int = Field(description="1-based number in the source")
    size: SizeModel | None = Field(description="null when the page could not be measured")
    rotation: int = Field(default=0, description="Degrees clockwise it was turned to be read")
    status: PageStatus
    problems: tuple[ProblemModel, ...] = ()
    usage: UsageModel = UsageModel()
    agreement: AgreementModel | None = Field(
        default=None, description="With the text layer; null where they were not compared"
    )
    blocks: tuple[BlockModel, ...] = ()


class MetadataModel(_Model):
    """What the source says of itself, and how it was read."""

    page_count: int = Field(description="Pages in the source, selected or not")
    media_type: str
    title: str | None = None
    author: str | None = None
    engine: str = ""
    moonpress_version: str = ""


class DocumentModel(_Model):
    """A document as it was read."""

    schema_version: Literal["1.0"] = SCHEMA_VERSION
    source: str = Field(description="Path or name of the input as the user gave it")
    sha256: str = Field(description="Hex digest of the input's bytes")
    metadata: MetadataModel
    pages: tuple[PageModel, ...]


def from_document(document: Document, figures: Mapping[str, str]) -> DocumentModel:
    """The JSON model of ``document``, with the links of crops by block id."""
    meta = document.metadata
    return DocumentModel(
        source=clean_text(document.source),
        sha256=document.sha256,
        metadata=MetadataModel(
            page_count=meta.page_count,
            media_type=meta.media_type,
            title=_clean(meta.title),
            author=_clean(meta.author),
            engine=meta.engine,
            moonpress_version=meta.moonpress_version,
        ),
        pages=tuple(_from_page(page, figures) for page in document.pages),
    )


def to_document(model: DocumentModel) -> Document:
    """The document that ``model`` was made from."""
    return Document(
        source=model.source,
        sha256=model.sha256,
        pages=tuple(_to_page(page) for page in model.pages),
        metadata=Metadata(**model.metadata.model_dump()),
    )


def _from_page(page: Page, figures: Mapping[str, str]) -> PageModel:
    usage = page.usage
    return PageModel(
        number=page.number,
        size=None if page.size is None else _from_size(page.size),
        rotation=page.rotation,
        status=page.status,
        problems=tuple(
            ProblemModel(code=str(p.code), message=clean_text(p.message), block_id=p.block_id)
            for p in page.problems
        ),
        usage=UsageModel(
            engine=usage.engine,
            seconds=usage.seconds,
            cpu_seconds=usage.cpu_seconds,
            prompt_tokens=usage.prompt_tokens,
            output_tokens=usage.output_tokens,
            attempts=usage.attempts,
        ),
        agreement=None
        if page.agreement is None
        else AgreementModel(found=page.agreement.found, backed=page.agreement.backed),
        blocks=tuple(_from_block(block, figures.get(block.id)) for block in page.blocks),
    )


def _from_size(size: PageSize) -> SizeModel:
    return SizeModel(
        width_pt=size.width_pt,
        height_pt=size.height_pt,
        width_px=size.width_px,
        height_px=size.height_px,
        dpi=round(size.dpi, 3),
    )


def _from_block(block: Block, figure: str | None) -> BlockModel:
    return BlockModel(
        id=block.id,
        kind=block.kind,
        bbox=_from_box(block.bbox),
        html=clean_text(block.html),
        text=visible_text(block.html),
        level=block.level,
        confidence=block.confidence,
        links=tuple(
            LinkModel(
                href=clean_text(link.href), bbox=_from_box(link.bbox), text=clean_text(link.text)
            )
            for link in block.links
        ),
        origin=block.origin,
        font_size=block.font_size,
        caption_for=block.caption_for,
        continues=block.continues,
        figure=figure,
    )


def _to_page(model: PageModel) -> Page:
    size = model.size
    return Page(
        number=model.number,
        size=None
        if size is None
        else PageSize(size.width_pt, size.height_pt, size.width_px, size.height_px),
        status=model.status,
        rotation=model.rotation,
        blocks=tuple(_to_block(block) for block in model.blocks),
        problems=tuple(Problem(p.code, p.message, p.block_id) for p in model.problems),
        usage=Usage(**model.usage.model_dump()),
        agreement=None
        if model.agreement is None
        else Agreement(model.agreement.found, model.agreement.backed),
    )


def _to_block(model: BlockModel) -> Block:
    return Block(
        id=model.id,
        kind=model.kind,
        bbox=BBox(*model.bbox),
        html=model.html,
        level=model.level,
        confidence=model.confidence,
        links=tuple(Link(link.href, BBox(*link.bbox), link.text) for link in model.links),
        origin=model.origin,
        font_size=model.font_size,
        caption_for=model.caption_for,
        continues=model.continues,
    )


def _from_box(box: BBox) -> tuple[float, float, float, float]:
    return box.x0, box.y0, box.x1, box.y1


def _clean(text: str | None) -> str | None:
    return None if text is None else clean_text(text)
