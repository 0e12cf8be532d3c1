"""What worker processes are made to do in tests; imported by the children."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moonpress.errors import InputCorrupt, PageTimeout


class Target:
    """Well-behaved and otherwise."""

    def __init__(self, start: int = 0) -> None:
        self.count = start

    def add(self, amount: int) -> int:
        self.count += amount
        return self.count

    def pid(self) -> int:
        return os.getpid()

    def variable(self, name: str) -> str | None:
        return os.environ.get(name)

    def where(self) -> str:
        return str(Path.cwd())

    def double(self, array: npt.NDArray[np.uint8]) -> Mapping[str, object]:
        return {"array": array * 2, "shape": array.shape, "words": "x" * 200_000}

    def sleep(self, seconds: float) -> str:
        time.sleep(seconds)
        return "slept"

    def crash(self) -> None:
        sys.stderr.write("about to crash\n")
        sys.stderr.flush()
        ctypes.string_at(0)

    def leave(self, code: int) -> None:
        os._exit(code)

    def print_everywhere(self) -> str:
        sys.stdout.write("python prints\n")
        sys.stdout.flush()
        os.write(1, b"native code prints\n" * 1000)
        return "printed"

    def raise_ours(self) -> None:
        raise PageTimeout("too slow", file="a.pdf", page=3, hint="Wait")

    def raise_other(self) -> None:
        raise ValueError("not\nours")

    def allocate(self, size: int) -> int:
        return len(bytearray(size))

    def unpicklable(self) -> object:
        return lambda: None


def broken() -> Target:
    """A factory that fails as the project does."""
    raise InputCorrupt("no good", file="b.pdf")


def crashing() -> Target:
    """A factory that takes the process along."""
    os._exit(7)
