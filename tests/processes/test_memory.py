"""Tests of `moonpress.processes.memory`."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_SCRIPT = """
import random, sys
from pathlib import Path
from moonpress.processes.memory import return_large_blocks
if sys.argv[1] == "yes":
    return_large_blocks()
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20
draw = random.Random(3)
pins = []
for _ in range(3):
    blocks = []
    for _ in range(150):
        blocks.append(b"x" * draw.randint(400_000, 900_000))
        # What stays between the blocks keeps the heap from shrinking.
        pins.append(b"y" * (3000 + len(pins)))
    blocks.clear()
print(resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_what_is_freed_is_given_back() -> None:
    after = [
        int(subprocess.check_output([sys.executable, "-c", _SCRIPT, wanted], timeout=120))
        for wanted in ("yes", "no")
    ]
    assert after[0] + 30 < after[1]
