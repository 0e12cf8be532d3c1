"""Telling by its name what to do with a file that nobody named.

Owns the suffixes of documents and of archives. What a document is, its bytes decide when it is
opened (`moonpress.sources.sniff`); opening every file of a folder for that would cost too much.
Never opens anything.
"""

from __future__ import annotations

from typing import Literal

Archive = Literal["zip", "tar", "gz", "bz2", "xz", "zst"]

_DOCUMENTS = frozenset({"pdf", "png", "webp", "gif", "bmp", "dib", "avif"})
_DOCUMENTS |= {"jpg", "jpeg", "jpe", "jfif", "tif", "tiff", "heic", "heif", "hif"}
_DOCUMENTS |= {"jp2", "j2k", "jpf", "jpx"}
_ARCHIVES: tuple[tuple[str, Archive], ...] = (
    (".zip", "zip"),
    (".tar", "tar"),
    (".tar.gz", "gz"),
    (".tgz", "gz"),
    (".tar.bz2", "bz2"),
    (".tbz2", "bz2"),
    (".tbz", "bz2"),
    (".tar.xz", "xz"),
    (".txz", "xz"),
    (".tar.zst", "zst"),
    (".tzst", "zst"),
)


def is_document(name: str) -> bool:
    """Whether a file of this name is taken from a folder or an archive."""
    return suffix(name) in _DOCUMENTS


def archive_kind(name: str) -> Archive | None:
    """How an archive of this name is packed; ``None`` for other names."""
    lowered = name.lower()
    return next((kind for ending, kind in _ARCHIVES if lowered.endswith(ending)), None)


def suffix(name: str) -> str:
    """The suffix of a name, in small letters and without its dot; empty when there is none."""
    stem, dot, ending = name.rpartition(".")
    return ending.lower() if stem and dot else ""
