"""Zip archives: their members one after the other, and single members at their place.

Owns reading a zip's directory as a stream, for `zipfile` keeps all of it in memory and reads all of
it for each member that is opened. Sizes in the directory are claims; what is unpacked is bounded by
the caller. Never writes files.

The format is the one of PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3 (zip64).
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from moonpress.errors import InputCorrupt, InputError, PasswordNeeded, UnsupportedInput

_END = struct.Struct("<4s4H2LH")
_END64_PLACE = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 0xFFFF
_IN_ZIP64 = 0xFFFFFFFF
_ZIP64_FIELD = 1
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8 = 0x800
_METHODS = frozenset(
    {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
)


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """What the directory says of a member.

    Attributes:
        at: Offset of this entry in the file.
        name: As the archive has it; ends with a slash for folders.
        flags: General purpose bits.
        method: Of compression.
        crc: CRC-32 of the content.
        packed: Size in the archive, in bytes.
        size: Size of the content, in bytes.
        header: Offset of the member's own header in the file.
        length: Of the entry, in bytes.
    """

    at: int
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    header: int
    length: int

    def complaint(self) -> InputError | None:
        """Why the member cannot be read, where the directory tells."""
        if self.flags & _ENCRYPTED:
            return PasswordNeeded(
                "the archive is encrypted", hint="Unpack it and name the folder instead"
            )
        if self.method not in _METHODS:
            return UnsupportedInput(
                f"packed by method {self.method}, which is not supported",
                hint="Unpack the archive and name the folder instead",
            )
        return None


def zip_entries(file: BinaryIO) -> Iterator[ZipEntry]:
    """All entries of a zip's directory, in its order.

    Args:
        file: Seekable.

    Raises:
        InputCorrupt: this is no zip, or its directory is damaged.
    """
    at, stop, shift = _directory(file)
    # Not by the number of entries, which old programs write modulo 65,536.
    while at < stop:
        entry = _entry_at(file, at, shift)
        yield entry
        at += entry.length


def zip_entry_at(file: BinaryIO, at: int) -> ZipEntry:
    """The entry at a place in the file that an earlier listing told.

    Raises:
        InputCorrupt: there is none.
    """
    return _entry_at(file, at, _directory(file)[2])


@contextmanager
def zip_content(file: BinaryIO, entry: ZipEntry) -> Iterator[IO[bytes]]:
    """The content of a member; never longer than its entry says.

    Raises:
        InputError: the member cannot be read.
        zipfile.BadZipFile: while reading, when the content is damaged.
        zlib.error, OSError, EOFError, lzma.LZMAError: the same.
    """
    complaint = entry.complaint()
    if complaint is not None:
        raise complaint
    file.seek(entry.header)
    signature, *_, name_length, extra_length = _unpack(_LOCAL, file)
    if signature != b"PK\x03\x04":
        raise _damaged()
    file.seek(entry.header + _LOCAL.size + name_length + extra_length)
    info = zipfile.ZipInfo(filename="member")
    info.compress_type, info.CRC = entry.method, entry.crc
    info.compress_size, info.file_size = entry.packed, entry.size
    with zipfile.ZipExtFile(file, "r", info) as content:
        yield cast("IO[bytes]", content)


def _directory(file: BinaryIO) -> tuple[int, int, int]:
    """Where the directory begins and ends, and how far offsets are shifted.

    Archives that are appended to something, such as a program that unpacks itself, count from
    their own start.
    """
    end = file.seek(0, 2)
    tail_at = max(0, end - _END.size - _LONGEST_COMMENT)
    file.seek(tail_at)
    tail = file.read(end - tail_at)
    found = tail.rfind(b"PK\x05\x06")
    if found < 0 or found + _END.size > len(tail):
        raise InputCorrupt("this is no zip archive, or its end is missing")
    *_, size, offset, _ = _END.unpack_from(tail, found)
    stop = tail_at + found
    place = stop - _END64_PLACE.size
    if place >= _END64.size:
        file.seek(place)
        if file.read(4) == b"PK\x06\x07":
            stop = place - _END64.size
            file.seek(stop)
            signature, *_, size, offset = _unpack(_END64, file)
            if signature != b"PK\x06\x06":
                raise _damaged()
    start = stop - size
    if start < offset:
        raise _damaged()
    return start, stop, start - offset


def _entry_at(file: BinaryIO, at: int, shift: int) -> ZipEntry:
    file.seek(at)
    fields = _unpack(_ENTRY, file)
    signature, _, _, flags, method, _, _, crc, packed, size = fields[:10]
    name_length, extra_length, comment_length, disk, _, _, header = fields[10:]
    if signature != b"PK\x01\x02":
        raise _damaged()
    raw, extra = file.read(name_length), file.read(extra_length)
    size, packed, header = _zip64(extra, (size, packed, header))
    if disk not in {0, 0xFFFF}:
        raise UnsupportedInput("the archive is one of several parts", hint="Join the parts")
    # A name with a zero byte ends there: so do all programs that unpack.
    name = raw.decode("utf-8" if flags & _UTF8 else "cp437", "surrogateescape").partition("\0")[0]
    length = _ENTRY.size + name_length + extra_length + comment_length
    return ZipEntry(at, name, flags, method, crc, packed, size, header + shift, length)


def _zip64(extra: bytes, values: tuple[int, int, int]) -> tuple[int, int, int]:
    """Values with those that did not fit into 32 bits taken from the zip64 field."""
    if _IN_ZIP64 not in values:
        return values
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, at)
        at += 4
        if tag == _ZIP64_FIELD:
            field = extra[at : at + length]
            numbers = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
            size, packed, header = (
                next(numbers, value) if value == _IN_ZIP64 else value for value in values
            )
            return size, packed, header
        at += length
    return values


def _unpack(layout: struct.Struct, file: BinaryIO) -> tuple[Any, ...]:
    data = file.read(layout.size)
    if len(data) < layout.size:
        raise _damaged()
    return layout.unpack(data)


def _damaged() -> InputCorrupt:
    return InputCorrupt("the directory of the zip archive is damaged")
