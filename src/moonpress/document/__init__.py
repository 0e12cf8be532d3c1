"""The document model: pure data that every source, engine and output shares."""

from moonpress.document.blocks import Block, BlockKind, Link, TextOrigin
from moonpress.document.document import (
    Agreement,
    Document,
    Metadata,
    Page,
    PageStatus,
    Problem,
    ProblemCode,
    Usage,
)
from moonpress.document.geometry import BBox, PageSize
from moonpress.document.page_image import (
    EncodedPicture,
    Font,
    PageImage,
    PictureEncoder,
    TextLayer,
)
from moonpress.document.reading import LayoutReply, PageReading
from moonpress.document.rendering import Delimiters, Output, RenderOptions

__all__ = [
    "Agreement",
    "BBox",
    "Block",
    "BlockKind",
    "Delimiters",
    "Document",
    "EncodedPicture",
    "Font",
    "LayoutReply",
    "Link",
    "Metadata",
    "Output",
    "Page",
    "PageImage",
    "PageReading",
    "PageSize",
    "PageStatus",
    "PictureEncoder",
    "Problem",
    "ProblemCode",
    "RenderOptions",
    "TextLayer",
    "TextOrigin",
    "Usage",
]
