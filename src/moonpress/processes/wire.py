"""How messages travel between parent and child.

Owns the encoding: a pickle on the pipe, and large buffers (page pictures) beside it in memory that
both processes have open, because a pipe moves 64 KiB at a time and costs four times as much. Never
starts processes and never waits.

One `SharedArea` serves both directions: calls and answers alternate, and each is read whole before
the next is written.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import tempfile
from typing import Any

_LENGTH = struct.Struct("<Q")
HEADER_SIZE = _LENGTH.size
_LARGE = 1 << 16


class SharedArea:
    """A nameless file in memory (Linux) or in the temporary folder, open in parent and child."""

    def __init__(self, descriptor: int) -> None:
        self._file = io.FileIO(descriptor, "r+b")

    @classmethod
    def create(cls) -> SharedArea | None:
        """A new area, or ``None`` where a child cannot inherit descriptors."""
        if os.name != "posix":
            return None
        if hasattr(os, "memfd_create"):
            # Not /dev/shm: containers often have 64 MB there.
            return cls(os.memfd_create("moonpress"))
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    @property
    def descriptor(self) -> int:
        """To be inherited by the child."""
        return self._file.fileno()

    def write(self, buffers: list[memoryview]) -> None:
        """Replace the content."""
        self._file.seek(0)
        self._file.truncate(sum(b.nbytes for b in buffers))
        for buffer in buffers:
            rest = buffer
            while rest.nbytes:
                rest = rest[self._file.write(rest) or 0 :]

    def read(self, sizes: list[int]) -> list[bytearray]:
        """Copies of the buffers written last."""
        self._file.seek(0)
        buffers = [bytearray(size) for size in sizes]
        for buffer in buffers:
            rest = memoryview(buffer)
            while rest.nbytes:
                count = self._file.readinto(rest)
                if not count:
                    raise EOFError("the shared area is shorter than announced")
                rest = rest[count:]
        return buffers

    def close(self) -> None:
        """Free this process's hold on the memory."""
        self._file.close()


def encode(message: object, area: SharedArea | None) -> bytes:
    """The bytes to send for ``message``, length in front; its large buffers go to ``area``."""
    large: list[memoryview] = []

    def keep_in_pickle(buffer: pickle.PickleBuffer) -> bool:
        try:
            view = buffer.raw()
        except BufferError:  # not contiguous
            return True
        if area is None or view.nbytes < _LARGE:
            return True
        large.append(view)
        return False

    body = pickle.dumps(message, protocol=5, buffer_callback=keep_in_pickle)
    if area is not None and large:
        area.write(large)
    sizes = pickle.dumps([view.nbytes for view in large])
    return (
        _LENGTH.pack(_LENGTH.size + len(sizes) + len(body))
        + _LENGTH.pack(len(sizes))
        + sizes
        + body
    )


def body_size(header: bytes) -> int:
    """How many bytes follow the first `HEADER_SIZE` ones of a message."""
    (size,) = _LENGTH.unpack(header)
    return int(size)


def decode(body: bytes, area: SharedArea | None) -> Any:
    """The message whose bytes after the header are ``body``."""
    (sizes_length,) = _LENGTH.unpack_from(body)
    start = _LENGTH.size + sizes_length
    sizes = pickle.loads(body[_LENGTH.size : start])
    buffers = area.read(sizes) if area is not None and sizes else []
    return pickle.loads(memoryview(body)[start:], buffers=buffers)
