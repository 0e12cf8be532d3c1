from __future__ import annotations

import os
import subprocess
import sys

import pytest

from moonpress.serving.replicas.memory import available_bytes, tree_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


def test_a_tree_holds_what_its_processes_hold() -> None:
    child = "held = bytearray(b'x' * (80 << 20)); print('held', flush=True); input()"
    parent = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {child!r}], stdin=0)
child.wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        held = tree_bytes(process.pid)
        assert held is not None
        assert 80 << 20 < held < 160 << 20
    finally:
        process.communicate(b"\n", timeout=30)


def test_a_process_that_is_gone_holds_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert tree_bytes(process.pid) == 0


def test_some_memory_is_left_here() -> None:
    free = available_bytes()
    assert free is not None
    assert 0 < free < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
