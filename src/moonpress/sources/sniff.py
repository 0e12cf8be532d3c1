"""Telling from its first bytes what a file is.

Owns the signatures of what Moonpress reads and the names of what people hand over by mistake.
Never opens or reads a file, and never looks at names.
"""

from __future__ import annotations

from typing import NamedTuple

HEAD_SIZE = 4096
# A PDF's header may stand behind so much of something else, such as a mail header.
_PDF_HEADER_WITHIN = 1024

PDF = "application/pdf"
PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
WEBP = "image/webp"
TIFF = "image/tiff"
BMP = "image/bmp"
HEIC = "image/heic"
AVIF = "image/avif"
JPEG2000 = "image/jp2"
PICTURES = frozenset({PNG, JPEG, GIF, WEBP, TIFF, BMP, HEIC, AVIF, JPEG2000})

_OURS = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),  # BigTIFF
    (b"MM\x00+", TIFF),
    (b"\x00\x00\x00\x0cjP  ", JPEG2000),
    (b"\xff\x4f\xff\x51", JPEG2000),  # a codestream without its box
)
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_BMP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})

_OTHERS = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript file"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript file"),
    (b"8BPS", "a Photoshop picture"),
    (b"AT&TFORM", "a DjVu document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
)
_ZIPS = (
    (b"word/", "a Word document (docx)"),
    (b"xl/", "an Excel workbook (xlsx)"),
    (b"ppt/", "a PowerPoint presentation (pptx)"),
    (b"mimetypeapplication/epub+zip", "an EPUB book"),
    (b"mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file"),
)
_MARKUPS = (
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<svg", "an SVG drawing"),
    (b"<?xml", "an XML file"),
)


class Kind(NamedTuple):
    """What a file seems to be; ``media_type`` is empty for what Moonpress does not read."""

    media_type: str
    description: str = ""


def sniff(head: bytes) -> Kind:
    """What a file that begins with ``head`` (up to `HEAD_SIZE` bytes) is."""
    for signature, media_type in _OURS:
        if head.startswith(signature):
            return Kind(media_type)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind(WEBP)
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return Kind(BMP)
    if head[4:8] == b"ftyp":
        return _iso_media(head)
    if b"%PDF-" in head[: _PDF_HEADER_WITHIN + 5]:
        return Kind(PDF)
    return Kind("", _describe(head))


def _iso_media(head: bytes) -> Kind:
    """HEIC, AVIF and MP4 share a container; its brands tell them apart."""
    end = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[at : at + 4] for at in (8, *range(16, end, 4))}
    # The general brand mif1 stands in AVIF files too.
    if brands & _AVIF_BRANDS:
        return Kind(AVIF)
    if brands & _HEIC_BRANDS:
        return Kind(HEIC)
    return Kind("", "a video")


def _describe(head: bytes) -> str:
    for signature, description in _OTHERS:
        if head.startswith(signature):
            return description
    if head.startswith(b"PK\x03\x04"):
        return next((text for mark, text in _ZIPS if mark in head), "a ZIP archive")
    if not head.strip(b"\x00"):
        return "nothing but zero bytes"
    markup = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1024].lower()
    if markup.startswith(b"<"):
        for mark, description in sorted(_MARKUPS, key=lambda m: _place(markup, m[0])):
            if mark in markup:
                return description
    return "plain text" if _is_text(head) else "data of an unknown kind"


def _place(text: bytes, mark: bytes) -> int:
    """Where ``mark`` stands; the XML declaration comes last, for what follows it says more."""
    at = text.find(mark)
    return len(text) if at < 0 or mark == b"<?xml" else at


def _is_text(head: bytes) -> bool:
    if b"\x00" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # A character may be cut by the end of what was read.
        return error.start >= len(head) - 3
    return True
