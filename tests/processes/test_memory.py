"""Tests of `moonpress.processes.memory`."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_SCRIPT = """
import random, sys, threading
from pathlib import Path
from moonpress.processes.memory import return_large_blocks
if sys.argv[1] == "yes":
    return_large_blocks()
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20
draw = random.Random(3)
def churn():
    held = []
    for _ in range(600):
        held.append(bytes(draw.randint(400_000, 900_000)))
        if len(held) > 16:
            held.pop(draw.randrange(16))
    kept.append(bytes(100))
kept = []
threads = [threading.Thread(target=churn) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_what_is_freed_is_given_back() -> None:
    after = [
        int(subprocess.check_output([sys.executable, "-c", _SCRIPT, wanted], timeout=120))
        for wanted in ("yes", "no")
    ]
    assert after[0] < 60
    assert after[0] < after[1]
