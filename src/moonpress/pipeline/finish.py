"""The end of every document: pages that were read become one document.

Owns the order of the document-level passes. Never reads a page, and never does what a pass does.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from moonpress.document import Document, Metadata, Page
from moonpress.pipeline.continued import mark_continued
from moonpress.pipeline.furniture import mark_furniture
from moonpress.pipeline.headings import level_headings
from moonpress.sources.base import SourceInfo


def finish_document(
    pages: Sequence[Page], *, info: SourceInfo, name: str, engine_name: str
) -> Document:
    """The document of ``pages`` after all document-level passes.

    Args:
        pages: Every selected page once, in the order of the selection, links attached.
        info: Of the file that they were read from.
        name: What the user calls it.
        engine_name: Who read them.
    """
    return Document(
        source=name,
        sha256=info.sha256,
        pages=mark_continued(level_headings(mark_furniture(pages))),
        metadata=Metadata(
            page_count=info.page_count,
            media_type=info.media_type,
            title=info.title,
            author=info.author,
            engine=engine_name,
            moonpress_version=version("moonpress"),
        ),
    )
