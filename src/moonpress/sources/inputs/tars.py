"""Tar archives, plain or compressed: their members one after the other.

Owns unpacking as a stream that only goes forward, its bounds, and telling a damaged archive from
its end. Holds one member's header at a time, whatever the size of the archive. Never writes files.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

import zstandard

from moonpress.errors import InputCorrupt, InputError, InputTooLarge
from moonpress.sources.input_check import input_error
from moonpress.sources.inputs.kinds import Archive
from moonpress.sources.inputs.limits import Limits

_CHUNK = 1 << 18
# tarfile reads a header in one piece, and hostile ones claim gigabytes.
_LARGEST_READ = 16 << 20


class TarStream:
    """The bytes of an unpacked tar.

    A compressed one goes forward only, but for the one byte that `tarfile` steps back to see
    whether a member is all there.
    """

    def __init__(self, path: Path, kind: Archive, limits: Limits) -> None:
        self._file = path.open("rb")
        self._unpacked = _unpacking(self._file, kind)
        self._seekable = kind == "tar"
        self._limits = limits
        self._start = 0
        self._buffer = b""
        self._at = 0
        # What was read last; the end of a proper tar is a block of zeros.
        self.last = b""

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer at the end only.

        Raises:
            InputCorrupt: so much cannot be part of a header.
            InputTooLarge: the archive unpacks to more than is allowed.
        """
        if not 0 <= size <= _LARGEST_READ:
            raise InputCorrupt("the archive is damaged: a header claims an impossible size")
        pieces = []
        while size > 0:
            begin = self._at - self._start
            piece = self._buffer[begin : begin + size]
            if not piece and not self._fill():
                break
            pieces.append(piece)
            self._at += len(piece)
            size -= len(piece)
        self.last = b"".join(pieces)
        return self.last

    def seek(self, to: int) -> int:
        """Go to an offset from the start of the tar; past the end, reading finds nothing."""
        if self._seekable and not self._start <= to <= self._start + len(self._buffer):
            self._unpacked.seek(to)
            self._start, self._buffer = to, b""
        if to < self._start:
            raise InputCorrupt("the archive is damaged: its members overlap")
        while to > self._start + len(self._buffer) and self._fill():
            pass
        self._at = to
        return to

    def tell(self) -> int:
        """Offset from the start of the tar."""
        return self._at

    def close(self) -> None:
        """Free the file."""
        with closing(self._file), closing(self._unpacked):
            pass

    def _fill(self) -> bool:
        """Get more bytes, keeping the last one; false at the end."""
        more = self._unpacked.read(_CHUNK)
        kept = self._buffer[-1:]
        self._start += len(self._buffer) - len(kept)
        self._buffer = kept + more
        reached = self._start + len(self._buffer)
        allowed = max(self._limits.free_expansion_bytes, self._limits.expansion * self._file.tell())
        if reached > allowed and not self._seekable:
            raise InputTooLarge(
                f"the archive unpacks to more than {self._limits.expansion} times its size"
            )
        return bool(more)


class TarMembers:
    """A tar that is read from some member on.

    Args:
        path: Of the archive.
        kind: How it is packed.
        limits: Bounds of unpacking.
        at: Offset in the unpacked tar of the member's header to begin at.

    Raises:
        InputError: the archive cannot be read.
    """

    def __init__(self, path: Path, kind: Archive, limits: Limits, at: int = 0) -> None:
        with damage():
            self._stream = TarStream(path, kind, limits)
        try:
            with damage():
                self._stream.seek(at)
                self._tar = tarfile.TarFile(fileobj=cast("IO[bytes]", self._stream), mode="r")
        except BaseException:
            self.close()
            raise

    def next(self) -> tarfile.TarInfo | None:
        """The next member; ``None`` after the last.

        Raises:
            InputError: the archive is damaged here, or unpacks to too much.
        """
        with damage():
            member = self._tar.next()
        # tarfile keeps all members that it has seen.
        self._tar.members.clear()  # type: ignore[attr-defined]
        # It also takes a damaged header for the end.
        if member is None and self._stream.last.strip(b"\0"):
            raise InputCorrupt("the archive is damaged")
        return member

    @contextmanager
    def content(self, member: tarfile.TarInfo) -> Iterator[IO[bytes]]:
        """The content of the member that `next` gave last; read it within `damage`."""
        with damage():
            content = self._tar.extractfile(member)
        if content is None:
            raise InputCorrupt("the member has no content of its own")
        with content:
            yield content

    def close(self) -> None:
        """Free the file."""
        self._stream.close()


@contextmanager
def damage() -> Iterator[None]:
    """What unpacking raises for damaged archives as typed errors."""
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        gzip.BadGzipFile,
        struct.error,
        zlib.error,
        lzma.LZMAError,
        zstandard.ZstdError,
        EOFError,
        ValueError,
        OverflowError,
    ):
        raise InputCorrupt("the archive is damaged") from None
    except InputError:
        raise
    except OSError as error:
        # bz2 has no error of its own.
        if error.errno is None:
            raise InputCorrupt("the archive is damaged") from None
        raise input_error(error, "") from None


def _unpacking(file: BinaryIO, kind: Archive) -> IO[bytes]:
    match kind:
        case "gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb"))
        case "bz2":
            return bz2.BZ2File(file)
        case "xz":
            return lzma.LZMAFile(file)
        case "zst":
            reader = zstandard.ZstdDecompressor().stream_reader(
                file, read_across_frames=True, closefd=False
            )
            return cast("IO[bytes]", reader)
        case _:
            return file
