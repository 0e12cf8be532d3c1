"""How this process gives memory back to the system.

Owns one setting of the C library's allocator. Never measures memory.
"""

from __future__ import annotations

import ctypes
import sys

# glibc's number for the size from which a block gets pages of its own.
_M_MMAP_THRESHOLD = -3
_LARGE = 256 << 10


def return_large_blocks() -> None:
    """Have every large block given back as soon as it is freed, where the C library is glibc.

    By itself glibc raises the size from which it does so, up to 32 MiB, with the blocks that it has
    seen. Page pictures of half a megabyte, many at once and freed in any order, then stay in its
    heaps with holes between them: a run with 64 pages in flight held 355 MB and not 181.
    """
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)
    except (OSError, AttributeError):
        # Another C library; its allocator has settings of its own.
        return
