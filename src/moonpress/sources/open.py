"""Opening a file by what its first bytes say it is.

Owns the choice of the source by media type. Never trusts suffixes: a PNG named ``.pdf`` is a PNG.
To add a source, write its module, teach `moonpress.sources.sniff` its first bytes and add its
media types to `open_source`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from moonpress.errors import UnsupportedInput
from moonpress.sources.base import Source
from moonpress.sources.input_check import check_input, input_error
from moonpress.sources.sniff import HEAD_SIZE, PDF, PICTURES, sniff


def open_source(
    source: Path | bytes, *, name: str, password: str | None, sha256: str | None = None
) -> Source:
    """Open a file of any kind that Moonpress reads.

    Args:
        source: The file, or its bytes.
        name: What the user calls it, for messages.
        password: Of an encrypted PDF; ignored where none is needed.
        sha256: Hex digest of the bytes where it is known already, which saves computing it.

    Raises:
        InputError: as `moonpress.sources.input_check.check_input` says, or
        UnsupportedInput: the bytes are nothing that Moonpress reads,
        InputCorrupt: the kind is right and the content is damaged beyond reading,
        PasswordNeeded: the file is encrypted, and the password is missing or wrong.
    """
    check_input(source, name)
    try:
        head, size = _head(source)
        digest = sha256 or _digest(source)
    except OSError as error:
        raise input_error(error, name) from error
    kind = sniff(head)
    if kind.media_type == PDF:
        from moonpress.sources.pdf import PdfSource

        return PdfSource(source, name=name, password=password, sha256=digest, size=size)
    if kind.media_type in PICTURES:
        from moonpress.sources.image import ImageSource

        return ImageSource(source, name=name, kind=kind.media_type, sha256=digest, size=size)
    raise UnsupportedInput(f"this is {kind.description}", file=name)


def _head(source: Path | bytes) -> tuple[bytes, int]:
    if isinstance(source, bytes):
        return source[:HEAD_SIZE], len(source)
    with source.open("rb") as file:
        return file.read(HEAD_SIZE), source.stat().st_size


def _digest(source: Path | bytes) -> str:
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
