"""What opening a file tells, whatever its name, and every error of an input by name."""

from __future__ import annotations

import hashlib
import io
import os
import random
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from moonpress.errors import (
    InputCorrupt,
    InputEmpty,
    InputError,
    InputMissing,
    InputNotAFile,
    InputUnreadable,
    PasswordNeeded,
    UnsupportedInput,
)
from moonpress.sources.open import open_source
from tests.sources.raw_pdf import RawPage, raw_pdf, text
from tests.sources.samples import encrypted_pdf, png


def media_type(data: bytes | Path) -> str:
    source = open_source(data, name="it", password=None)
    try:
        return source.info.media_type
    finally:
        source.close()


def error(data: bytes | Path, kind: type[InputError], *, password: str | None = None) -> str:
    with pytest.raises(kind) as caught:
        open_source(data, name="it", password=password)
    assert type(caught.value) is kind
    line = str(caught.value)
    assert line.startswith("it: ")
    assert "\n" not in line
    return line


def test_info_of_a_pdf(tmp_path: Path) -> None:
    data = raw_pdf(RawPage(), RawPage(), info="/Title (On  Rye) /Author ()")
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    for given in (data, path):
        info = open_source(given, name="it", password=None).info
        assert info.page_count == 2
        assert info.media_type == "application/pdf"
        assert info.title == "On Rye"
        assert info.author is None
        assert info.bytes == len(data)
        assert info.sha256 == hashlib.sha256(data).hexdigest()


def test_a_known_digest_is_not_computed_again() -> None:
    assert open_source(png(), name="it", password=None, sha256="known").info.sha256 == "known"


def test_names_do_not_matter(tmp_path: Path) -> None:
    lying_png, lying_pdf = tmp_path / "a.pdf", tmp_path / "b.png"
    lying_png.write_bytes(png())
    lying_pdf.write_bytes(raw_pdf(RawPage()))
    assert media_type(lying_png) == "image/png"
    assert media_type(lying_pdf) == "application/pdf"


@pytest.mark.parametrize("junk", [1, 500, 1024])
def test_a_pdf_may_stand_behind_junk(junk: int) -> None:
    data = b"x" * junk + raw_pdf(RawPage(text((72, 700), "Hello")))
    assert media_type(data) == "application/pdf"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("GIF", "image/gif"),
        ("WEBP", "image/webp"),
        ("TIFF", "image/tiff"),
        ("BMP", "image/bmp"),
        ("AVIF", "image/avif"),
        ("JPEG2000", "image/jp2"),
    ],
)
def test_pictures_by_their_bytes(form: str, expected: str) -> None:
    file = io.BytesIO()
    Image.new("RGB", (20, 10), "red").save(file, form)
    assert media_type(file.getvalue()) == expected


def test_missing(tmp_path: Path) -> None:
    assert "no such file" in error(tmp_path / "none.pdf", InputMissing)
    assert "no such file" in error(tmp_path / ("x" * 5000), InputMissing)
    (tmp_path / "file").write_bytes(b"x")
    assert "no such file" in error(tmp_path / "file" / "below.pdf", InputMissing)
    assert "cannot be the name" in error(tmp_path / "a\0b", InputMissing)


def test_not_a_file(tmp_path: Path) -> None:
    assert "a folder" in error(tmp_path, InputNotAFile)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in error(pipe, InputNotAFile)


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.pdf"
    path.write_bytes(b"%PDF-")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied" in error(path, InputUnreadable)


def test_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.pdf"
    path.touch()
    assert "is empty" in error(path, InputEmpty)
    assert "is empty" in error(b"", InputEmpty)
    assert "no pages" in error(raw_pdf(), InputEmpty)


def _zip(name: str, content: str = "x") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"Just some words.\n", "plain text"),
        ("Œuvre ✓ ".encode() * 2000, "plain text"),
        (b"  <!DOCTYPE html><html><body>%PDF</body></html>", "an HTML page"),
        (b"\xef\xbb\xbf<html>", "an HTML page"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
        (b'<?xml version="1.0"?><a/>', "an XML file"),
        (_zip("word/document.xml"), "a Word document (docx)"),
        (_zip("mimetype", "application/epub+zip"), "an EPUB book"),
        (_zip("a.txt"), "a ZIP archive"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"{\\rtf1 x}", "an RTF document"),
        (b"%!PS-Adobe-3.0", "a PostScript file"),
        (bytes(5000), "nothing but zero bytes"),
        (b"\x00\x01\xfe\xff" * 100, "data of an unknown kind"),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42", "a video"),
        (b"BM is how this text begins", "plain text"),
    ],
)
def test_unsupported_says_what_it_is(data: bytes, what: str) -> None:
    line = error(data, UnsupportedInput)
    assert f"this is {what}" in line
    assert "Moonpress reads PDF" in line


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n",
        b"%PDF-1.7\n" + random.Random(1).randbytes(3000),
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n" + bytes(200),
        b"\xff\xd8\xff\xe0" + bytes(100),
        b"II*\x00" + bytes(50),
        b"GIF89a",
        b"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00avifmif1" + bytes(64),
        b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(64),
    ],
)
def test_corrupt(data: bytes) -> None:
    assert "damaged beyond reading" in error(data, InputCorrupt)


def test_a_pdf_needs_its_password() -> None:
    data = encrypted_pdf("tulip")
    assert "needs a password" in error(data, PasswordNeeded)
    assert "the password is wrong" in error(data, PasswordNeeded, password="rose")
    assert open_source(data, name="it", password="tulip").info.page_count == 1


def test_a_password_too_many_does_not_matter() -> None:
    assert open_source(raw_pdf(RawPage()), name="it", password="x").info.page_count == 1
    assert open_source(png(), name="it", password="x").info.page_count == 1
