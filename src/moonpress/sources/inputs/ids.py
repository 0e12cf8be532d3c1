"""Names of documents that are unique and fit into any file system.

Owns how parts of a path become parts of an id. Pure functions of their arguments: the same document
has the same id on every run. Never looks at a disk.

A part that is fit to be a folder's name stays as it is. Any other is cleaned, cut, and marked with
``~`` and a digest of what it was. Parts that look marked already are marked too, so that two parts
become alike only where two digests do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

# File systems take 255 bytes; what is written for a document appends to its name.
_PART_BYTES = 180
_STEM_BYTES = 120
# Of the whole id: well within the 1,024 bytes of an S3 key and the 4,096 of a path.
_ID_BYTES = 900
_DIGEST_DIGITS = 12
# Control characters, line and paragraph separators, marks that turn the direction of writing,
# halves of characters (bytes that are no UTF-8 arrive as these), and the other path separator.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff/\\\\]")
_MARKED = re.compile(r"~[0-9a-f]{12}(?:\.[A-Za-z0-9]{1,10})?\Z")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")
# Dots hide, or mean this folder and the one above; @ is kept for `place`.
_UNFIT_STARTS = (".", "@")


def safe_part(part: str) -> str:
    """One part of a path as a part of an id."""
    fit = (
        part != ""
        and not part.startswith(_UNFIT_STARTS)
        and _UNFIT.search(part) is None
        and _MARKED.search(part) is None
        and len(part.encode()) <= _PART_BYTES
    )
    return part if fit else marked(part, part)


def safe_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """All parts of a path as parts of an id."""
    return tuple(safe_part(part) for part in parts)


def marked(part: str, key: str) -> str:
    """A fit name that tells ``part`` apart from parts of the same name by a digest of ``key``."""
    cleaned = _UNFIT.sub("_", part)
    if cleaned.startswith(_UNFIT_STARTS):
        cleaned = "_" + cleaned[1:]
    found = _SUFFIX.search(cleaned)
    suffix = found[0] if found else ""
    stem = cleaned.removesuffix(suffix).encode()[:_STEM_BYTES].decode(errors="ignore")
    return f"{stem}~{_digest(key)}{suffix}"


def place(scheme: str) -> str:
    """The first part of ids of what is named by its full address; no other part looks like it."""
    return f"@{scheme}"


def join_id(parts: Sequence[str]) -> str:
    """The id of safe parts; one that is too long keeps its first and last part."""
    whole = "/".join(parts)
    if len(whole.encode()) <= _ID_BYTES:
        return whole
    return "/".join((parts[0], f"~{_digest(whole)}", parts[-1]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
