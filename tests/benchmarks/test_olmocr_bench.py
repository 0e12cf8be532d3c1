"""The folder for olmOCR-bench and the averaging of its tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.accuracy import olmocr_bench
from benchmarks.accuracy.cases import Reading
from tests.generators import prose


def test_layout_lists_tested_pages_and_first_pages(tmp_path: Path) -> None:
    source = tmp_path / "bench"
    (source / "pdfs" / "part").mkdir(parents=True)
    for name in ("a.pdf", "part/b.pdf"):
        (source / "pdfs" / name).write_bytes(prose.ragged().pdf)
    tests = [{"pdf": "a.pdf", "page": 3, "id": "1"}, {"pdf": "a.pdf", "page": 1, "id": "2"}]
    (source / "some.jsonl").write_text("\n".join(map(json.dumps, tests)), encoding="utf-8")
    target = tmp_path / "run"
    pages = olmocr_bench.lay_out(source, target)
    assert [(p.name, p.page) for p in pages] == [("a.pdf", 1), ("a.pdf", 3), ("part/b.pdf", 1)]
    assert all(p.path.is_file() for p in pages)
    olmocr_bench.write_candidate(target / "mine", pages[2], Reading("text", 0, 0, 0))
    written = target / "mine" / "part" / "b_pg1_repeat1.md"
    assert written.read_text(encoding="utf-8") == "text"


@pytest.mark.parametrize(
    ("markdown", "judged"),
    [
        ("[Mutation in](http://a.org/b) [bacteria.](http://a.org/b)", "Mutation in bacteria."),
        (r"see [\[12\]](#p3) and \[3\](a)", r"see \[12\] and \[3\](a)"),
        ("![a plot](figures/p1.png)", "![a plot](figures/p1.png)"),
    ],
)
def test_targets_of_links_are_not_judged(tmp_path: Path, markdown: str, judged: str) -> None:
    page = olmocr_bench.Page("a.pdf", tmp_path / "a.pdf", 1)
    olmocr_bench.write_candidate(tmp_path, page, Reading(markdown, 0, 0, 0))
    assert (tmp_path / "a_pg1_repeat1.md").read_text(encoding="utf-8") == judged


def test_summary_averages_over_files_and_leaves_formulas_out() -> None:
    def record(kind: str, file: str, page: int, *, passed: bool) -> dict[str, object]:
        return {"type": kind, "file": file, "page": page, "passed": passed}

    records = [
        record("present", "one", 1, passed=True),
        record("order", "one", 1, passed=False),
        record("present", "one", 2, passed=True),
        record("math", "one", 1, passed=False),
        record("baseline", "baseline", 1, passed=True),
    ]
    scores = olmocr_bench.summary(records)
    assert scores["by_file"] == {"one": 0.5, "baseline": 1.0}
    assert scores["overall"] == pytest.approx(0.75)
    assert scores["page_1_without_formulas"] == pytest.approx(0.5)
    assert scores["page_1_without_formulas_tests"] == 2
