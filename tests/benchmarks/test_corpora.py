"""Truth of the corpora is prepared for comparing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.accuracy import corpora
from moonpress.bench.markdown import html_table


def test_words_broken_at_line_ends_are_made_whole() -> None:
    assert corpora._whole_words("be ex-\n  plained in 19-\n20 well-known") == (
        "be explained in 19-\n20 well-known"
    )


def test_notes_of_transcribers_are_left_out() -> None:
    assert corpora._without_notes("Dear [*in pencil*] Sir $pag:12").split() == ["Dear", "Sir", "12"]


def test_csv_becomes_a_grid() -> None:
    table = html_table(corpora._csv_as_html('a,"b, c"\n,d\n'))
    assert [(c.row, c.column, c.text) for c in table.cells] == [
        (0, 0, "a"), (0, 1, "b, c"), (1, 0, ""), (1, 1, "d"),
    ]  # fmt: skip


@pytest.mark.slow
def test_generated_cases_have_files_groups_and_truth(tmp_path: Path) -> None:
    cases = corpora.generated(tmp_path)
    assert all(case.path.is_file() for case in cases)
    assert {case.script for case in cases} == {"latin", "cjk"}
    assert all(c.truth.text or c.truth.tables or c.truth.blocks for c in cases)
    assert {c.group for c in cases} >= {"English, scan", "table, spans, digital", "Chinese, worn"}


def test_documents_have_one_case_a_page_with_tables(shared: Path) -> None:
    cases = {case.name: case for case in corpora.documents(shared)}
    assert cases["icdar13_eu-001-p2"].pages == (2,)
    assert len(cases["icdar13_eu-001-p1"].truth.tables) == 3
    assert cases["own_udhr_cjk"].script == "cjk"
    assert not any(name.startswith(("ocrmypdf_linn", "unst_jpn")) for name in cases)
