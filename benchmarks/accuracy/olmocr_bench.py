"""olmOCR-bench: candidates written as its package wants them, judged by the package itself.

Owns the layout of the folder and the averaging. The tests run inside the package's own environment
(see `olmocr_judge`), never here.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.accuracy.cases import Reading

_JUDGE = Path(__file__).with_name("olmocr_judge.py")
_JUDGE_SECONDS = 3600
_TEXT_LIMIT = 400
_LINK = re.compile(r"(?<![!\\])\[((?:\\.|[^\]\\])*)\]\([^)\s]*\)")


@dataclass(frozen=True, slots=True)
class Page:
    """One page that tests ask for; ``name`` is the PDF's path inside ``pdfs/``."""

    name: str
    path: Path
    page: int


def lay_out(source: Path, target: Path) -> list[Page]:
    """Link the bench's PDFs and tests into a writable folder and list the pages to read.

    Pages without tests of their own are still judged by the baseline test of page 1.
    """
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.jsonl"):
        old.unlink()
    wanted: set[tuple[str, int]] = set()
    for path in sorted(source.glob("*.jsonl")):
        shutil.copyfile(path, target / path.name)
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                test = json.loads(line)
                wanted.add((test["pdf"], test["page"]))
    link = target / "pdfs"
    if not link.exists():
        shutil.copytree(source / "pdfs", link)
    for pdf in sorted(link.rglob("*.pdf")):
        wanted.add((str(pdf.relative_to(link)), 1))
    return [Page(name, link / name, page) for name, page in sorted(wanted)]


def write_candidate(folder: Path, page: Page, reading: Reading) -> None:
    """``NAME_pg1_repeat1.md``; an empty file when the reading failed.

    Targets of links are left out, for every engine alike: the tests know none, and would count the
    address of a link in the midst of a text as a mistake in reading it.
    """
    stem = page.name.removesuffix(".pdf")
    target = folder / f"{stem}_pg{page.page}_repeat1.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_LINK.sub(r"\1", reading.markdown), encoding="utf-8")


def judge(python: str, folder: Path, candidate: str, chromium: str) -> list[dict[str, Any]]:
    """Run the package's tests on one candidate: one record a test.

    Raises:
        RuntimeError: the package could not run.
    """
    target = folder / f"{candidate}.judged.json"
    target.unlink(missing_ok=True)
    done = subprocess.run(
        [python, str(_JUDGE), str(folder), candidate, chromium, str(target)],
        capture_output=True,
        text=True,
        timeout=_JUDGE_SECONDS,
        check=False,
    )
    if done.returncode or not target.is_file():
        raise RuntimeError(f"olmocr's tests did not run: {done.stderr[-_TEXT_LIMIT:]}")
    records: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))
    return records


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares passed: by file of tests, by type, their mean over files, and without formulas."""

    files = sorted({r["file"] for r in records})
    types = sorted({r["type"] for r in records})
    by_file = {name: _share(r for r in records if r["file"] == name) for name in files}
    plain = [r for r in records if r["page"] == 1 and r["type"] not in {"math", "baseline"}]
    return {
        "overall": fmean(by_file.values()),
        "by_file": by_file,
        "by_type": {name: _share(r for r in records if r["type"] == name) for name in types},
        "tests": len(records),
        "page_1_without_formulas": _share(plain),
        "page_1_without_formulas_tests": len(plain),
    }


def _share(records: Iterable[dict[str, Any]]) -> float:
    return fmean(float(r["passed"]) for r in records)
