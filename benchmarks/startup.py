"""How long a user waits for ``chandra-pdf`` before anything is read.

``python -m benchmarks.startup`` runs each command several times and prints the fastest run: other
work on the machine only ever makes a run slower. Bar: ``--help`` within 0.4 seconds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

COMMAND = Path(sys.executable).parent / "chandra-pdf"
RUNS = 7


def fastest(*arguments: str) -> tuple[float, float]:
    """Wall and CPU seconds of the fastest of `RUNS` runs, each with its own minimum."""
    walls, cpus = [], []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(walls), min(cpus)


def main() -> None:
    """Print one line for each command."""
    for arguments in (("--help",), ("--version",), ("--no-such-option",), ("no-such-file.pdf",)):
        wall, cpu = fastest(*arguments)
        print(f"{' '.join(arguments):20} {wall:.2f} s wall, {cpu:.2f} s CPU")


if __name__ == "__main__":
    main()
