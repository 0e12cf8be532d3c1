"""Run olmOCR-bench's own tests on one candidate; executed by the Python that has the package.

Owns pointing its formula renderer at the system's Chromium and writing one record a test. Needs
nothing of this project:

    OLMOCR_PYTHON olmocr_judge.py FOLDER CANDIDATE CHROMIUM RESULT.json
"""

import json
import sys
from pathlib import Path

from olmocr.bench.benchmark import evaluate_candidate
from olmocr.bench.tests import BaselineTest, load_tests
from playwright.sync_api import BrowserType


def main() -> None:
    """Load tests as the package's command does, judge, write."""
    folder, candidate, chromium, target = Path(sys.argv[1]), *sys.argv[2:5]
    _use(chromium)
    tests, files = [], {}
    for path in sorted(folder.glob("*.jsonl")):
        for test in load_tests(str(path)):
            tests.append(test)
            files[test.id] = path.stem
    pdfs = [str(p.relative_to(folder / "pdfs")) for p in (folder / "pdfs").rglob("*.pdf")]
    for pdf in pdfs:
        # As the package does: a page without a baseline test of its own gets the default one.
        if not any(t.type == "baseline" and t.pdf == pdf for t in tests):
            tests.append(BaselineTest(id=f"{pdf}_baseline", pdf=pdf, page=1, type="baseline"))
            files[tests[-1].id] = "baseline"
    *_, errors, _, _, _, results = evaluate_candidate(str(folder / candidate), tests, pdfs)
    if not results:
        sys.exit("; ".join(errors)[:2000])
    records = [
        {
            "id": test.id,
            "pdf": pdf,
            "page": page,
            "type": str(test.type),
            "file": files[test.id],
            "passed": bool(passed),
            "why": "" if passed else str(why)[:300],
        }
        for pdf, pages in results.items()
        for page, entries in pages.items()
        for test, passed, why in entries
    ]
    Path(target).write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")


def _use(chromium: str) -> None:
    """Make every Playwright launch start ``chromium``."""
    launch = BrowserType.launch

    def system(self, **options):  # type: ignore[no-untyped-def]
        return launch(self, **options, executable_path=chromium, args=["--no-sandbox"])

    type.__setattr__(BrowserType, "launch", system)


if __name__ == "__main__":
    main()
