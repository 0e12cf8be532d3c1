"""What a search for documents yields: documents that can be read, and what cannot be.

Owns the two plain types. Never looks at a disk or a network: see `moonpress.sources.inputs`.
"""

from __future__ import annotations

from dataclasses import dataclass

from moonpress.errors import MoonpressError


@dataclass(frozen=True, slots=True)
class InputItem:
    """One document, found and not yet opened.

    Attributes:
        id: Unique within a run, but for the cases that `find_items` names, and the same on every
            run over the same inputs, whatever else is found in them: a relative path with ``/``
            between its parts, none of which is empty or begins with a dot. Names the document's
            place among the outputs.
        uri: Where its bytes are: an absolute local path, or an fsspec address such as
            ``s3://bucket/a.pdf`` or ``zip://a/b.pdf?at=41::/data/scans.zip``; always valid Unicode.
            May hold secrets, which ``name`` does not.
        name: What the user calls it, for messages.
        size: In bytes; ``None`` where the place does not tell.
        version: Changes when the bytes may have changed (size and modification time, an ETag);
            ``None`` where the place does not tell.
        pages: Selection of pages for this document alone, such as ``"1-3,7"``.
        password: Of this document alone.
    """

    id: str
    uri: str
    name: str
    size: int | None = None
    version: str | None = None
    pages: str | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True)
class InputProblem:
    """Something among the inputs that cannot be read; the search goes on.

    Attributes:
        name: What the user calls it.
        error: Why, with its remedy.
    """

    name: str
    error: MoonpressError
