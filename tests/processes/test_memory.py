"""Tests of `moonpress.processes.memory`."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# How many of ten large blocks get pages of their own, after a larger one was freed, which is what
# makes glibc raise its bound.
_SCRIPT = """
import ctypes, sys
from moonpress.processes.memory import return_large_blocks

class Facts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]

facts = ctypes.CDLL(None).mallinfo2
facts.restype = Facts
if sys.argv[1] == "yes":
    return_large_blocks()
larger = b"x" * 5_000_000
del larger
before = facts().hblks
blocks = [bytes([n]) * 600_000 for n in range(10)]
print(facts().hblks - before)
"""


def _has_mallinfo2() -> bool:
    name, version = platform.libc_ver()
    return name == "glibc" and tuple(map(int, version.split(".")[:2])) >= (2, 33)


@pytest.mark.skipif(not _has_mallinfo2(), reason="only glibc from 2.33 on tells of its blocks")
def test_large_blocks_get_pages_of_their_own() -> None:
    alone = {
        wanted: int(subprocess.check_output([sys.executable, "-c", _SCRIPT, wanted], timeout=120))
        for wanted in ("yes", "no")
    }
    # Some may fit into what the heap has free.
    assert alone["yes"] >= 5
    assert alone["no"] == 0
