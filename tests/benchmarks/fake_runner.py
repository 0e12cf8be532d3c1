"""A runner for tests: answers, fails, dies or hangs as the file it is given says."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def create(*, suffix: str = "") -> Callable[[Path, int], str]:
    def read(path: Path, page: int) -> str:
        order = path.read_text(encoding="utf-8")
        print("noise on standard output")  # noqa: T201  libraries do this
        if order == "fail":
            raise ValueError("as told")
        if order == "die":
            os._exit(3)
        if order == "hang":
            time.sleep(60)
        if order == "work":
            begin = time.process_time()
            while time.process_time() - begin < 0.2:
                pass
        return f"{order} {page}{suffix}"

    return read


def version(_python: str) -> str:
    return "1"
