"""Pages and documents.

Owns `Page`, `Document` and what is recorded about them. Never reads or writes files; figure crops
are made by outputs and are not held here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from moonpress.document.blocks import Block
from moonpress.document.geometry import PageSize
from moonpress.document.rendering import RenderOptions, find_output


class PageStatus(StrEnum):
    """How the reading of a page ended; every page has exactly one."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    BLANK = "blank"


class ProblemCode(StrEnum):
    """Stable names of what can be wrong with a page that was read, or why it was not."""

    PAGE_UNRENDERABLE = "page-unrenderable"
    PAGE_TIMEOUT = "page-timeout"
    PAGE_TOO_LARGE = "page-too-large"
    ENGINE_FAILED = "engine-failed"
    ENGINE_UNAVAILABLE = "engine-unavailable"
    TEXT_LAYER_UNTRUSTED = "text-layer-untrusted"
    LANGUAGE_PACK_MISSING = "language-pack-missing"
    LOW_CONFIDENCE = "low-confidence"
    TABLE_UNCERTAIN = "table-uncertain"
    PICTURE_TRUNCATED = "picture-truncated"
    DOWNSCALED = "downscaled"
    BOX_MISSING = "box-missing"
    BOX_MALFORMED = "box-malformed"
    LABEL_UNKNOWN = "label-unknown"
    TEXT_OUTSIDE_BLOCK = "text-outside-block"
    BLOCK_UNCLOSED = "block-unclosed"
    STRAY_TAG = "stray-tag"
    REPETITION = "repetition"
    OUTPUT_CUT = "output-cut"
    TEXT_LAYER_DISAGREES = "text-layer-disagrees"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a reader of the result should know.

    Attributes:
        code: A `ProblemCode` or, for engines of third parties, a code of their own.
        message: One human-readable line.
        block_id: The block concerned, if it is one.
    """

    code: str
    message: str
    block_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What reading a page cost.

    Attributes:
        engine: Name of the engine that read it.
        seconds: Wall seconds in the engine.
        cpu_seconds: CPU seconds in the engine, where it knows.
        prompt_tokens: Input tokens, for model engines.
        output_tokens: Output tokens, for model engines.
        attempts: How often the page was tried.
        sending_seconds: Of these, in which the page was on its way over the network, where that is
            known; for the report of a run, and in no output.
    """

    engine: str = ""
    seconds: float = 0.0
    cpu_seconds: float | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    attempts: int = 1
    sending_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a model's reading and a text layer that can be trusted have the same words.

    Attributes:
        found: Share of the layer's words that the reading has, 0 to 1; low when it lost text.
        backed: Share of the reading's words that the layer has; low when it invented text, or read
            text in pictures.
    """

    found: float
    backed: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document.

    Attributes:
        number: 1-based number in the source document.
        size: Size as displayed; ``None`` when the page could not even be measured.
        rotation: Degrees (0, 90, 180, 270) clockwise by which the page, as displayed, was turned
            to be read upright. Boxes are always relative to the page as displayed.
        status: How reading ended.
        blocks: In reading order.
        problems: What went wrong or is doubtful.
        usage: What it cost.
        agreement: With the page's text layer; ``None`` where they were not compared.
    """

    number: int
    size: PageSize | None
    status: PageStatus
    rotation: int = 0
    blocks: tuple[Block, ...] = ()
    problems: tuple[Problem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    agreement: Agreement | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the source says of itself, plus how it was read.

    Attributes:
        title: From the PDF's information dictionary.
        author: From the PDF's information dictionary.
        page_count: Pages in the source, whether selected or not.
        media_type: Such as ``application/pdf``.
        engine: Name of the engine used.
        moonpress_version: Version that made this document.
    """

    page_count: int
    media_type: str
    title: str | None = None
    author: str | None = None
    engine: str = ""
    moonpress_version: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: every selected page once, in order.

    Attributes:
        source: Path or name of the input as the user gave it.
        sha256: Hex digest of the input's bytes.
        pages: One entry per selected page, in the order of the selection.
        metadata: About the source and the reading.
    """

    source: str
    sha256: str
    pages: tuple[Page, ...]
    metadata: Metadata

    @property
    def failed_pages(self) -> tuple[int, ...]:
        """Numbers (1-based) of the pages that could not be read."""
        return tuple(p.number for p in self.pages if p.status is PageStatus.FAILED)

    def render(self, format_name: str, options: RenderOptions | None = None) -> str:
        """The document in any installed output format.

        Raises:
            UnknownName: no output has this name.
        """
        return find_output(format_name).render(self, options or RenderOptions())

    def to_markdown(self, options: RenderOptions | None = None) -> str:
        """The document as Markdown."""
        return self.render("markdown", options)

    def to_html(self, options: RenderOptions | None = None) -> str:
        """The document as one standalone HTML page."""
        return self.render("html", options)

    def to_json(self, options: RenderOptions | None = None) -> str:
        """The document as JSON of the versioned schema."""
        return self.render("json", options)

    def to_text(self, options: RenderOptions | None = None) -> str:
        """The document as plain text."""
        return self.render("text", options)
