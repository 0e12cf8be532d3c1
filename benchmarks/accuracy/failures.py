"""List the olmOCR-bench tests that an engine failed, and why.

    python -m benchmarks.accuracy.failures results/olmocr_sample.json embedded

Owns nothing but the listing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """One line a failed test: PDF, page, type, the package's reason."""
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for test in results["engines"][sys.argv[2]]["tests"]:
        if not test["passed"]:
            place = f"{test['pdf']} p{test['page']} {test['type']}"
            sys.stdout.write(f"{place}: {test['why']}\n")


if __name__ == "__main__":
    main()
