"""The child process in which one engine reads pages, one request a line.

Owns the conversation with the parent. Imports nothing but the standard library and the runner, so
that it also runs in the environments of other tools.

    python -m benchmarks.accuracy.child benchmarks.accuracy.runners.tesseract:create '{"psm": 3}'
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.process_tree import cpu_seconds, peak_mb


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever the engine's libraries print must not mix with the answers.
    os.dup2(2, 1)
    module, _, factory = sys.argv[1].partition(":")
    read = getattr(importlib.import_module(module), factory)(**json.loads(sys.argv[2]))
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(read, request)) + "\n")
        answers.flush()


def _answer(read: Any, request: dict[str, Any]) -> dict[str, Any]:
    begin, cpu = time.perf_counter(), cpu_seconds()
    markdown, error = "", ""
    try:
        markdown = read(Path(request["path"]), request["page"])
    except Exception as problem:  # noqa: BLE001  an engine's failure is a result here
        error = f"{type(problem).__name__}: {problem}"[:500]
    return {
        # Lone surrogates of a reader's output cannot be written to any file.
        "markdown": markdown.encode("utf-8", "replace").decode("utf-8"),
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": cpu_seconds() - cpu,
        "peak_mb": peak_mb(),
        "error": error,
    }


if __name__ == "__main__":
    main()
