"""A regression floor: real documents with truth by people, read well enough and no worse.

One or a few documents of each kind; the whole corpus is measured by ``benchmarks.accuracy``. Each
floor stands a little below what was measured when it was set, so that noise does not trip it and a
real loss does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.accuracy import corpora
from benchmarks.accuracy.cases import Case
from benchmarks.accuracy.engine_process import EngineProcess
from benchmarks.accuracy.runners import runners
from benchmarks.accuracy.scoring import Score, score

pytestmark = [pytest.mark.shared, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class Floor:
    """What a kind must reach: bounds of the means over its cases."""

    kind: str
    cases: tuple[str, ...]
    most_cer: float | None = None
    least_teds: float | None = None
    least_cells: float | None = None


FLOORS = (
    Floor(
        "born digital",
        (
            "pypdf_crazyones",
            "own_udhr_latin_diacritics",
            "own_udhr_cyrillic_greek",
            "own_udhr_cjk",
        ),
        most_cer=0.015,
    ),
    Floor(
        "clean scan",
        ("docling_ocr_test", "docling_webp_test", "tess_phototest", "tess_eurotext"),
        most_cer=0.01,
    ),
    Floor("scan with diacritics", ("own_udhr_latin_diacritics_scan",), most_cer=0.025),
    Floor(
        "turned scan",
        (
            "docling_ocr_test_rotated_90",
            "docling_ocr_test_rotated_180",
            "docling_ocr_test_rotated_270",
            "tess_phototest_rotated_L",
            "tess_phototest_rotated_180",
        ),
        most_cer=0.005,
    ),
    Floor("typewritten", ("loc_letter_2", "loc_letter_23", "loc_letter_60"), most_cer=0.08),
    Floor("handwriting", ("loc_letter_3",), most_cer=0.35),
    Floor("magazine", ("tess_8071_093_3B",), most_cer=0.28),
    Floor(
        "table, born digital",
        (
            "icdar13_eu-001-p1",
            "icdar13_eu-001-p2",
            "icdar13_eu-009a-p1",
            "icdar13_us-008-p1",
            "icdar13_us-030-p2",
        ),
        least_teds=0.94,
        least_cells=0.89,
    ),
    Floor(
        "table, picture",
        (
            "pubtabnet_PMC1626454_002_00-p1",
            "pubtabnet_PMC2838834_005_00-p1",
            "pubtabnet_PMC3519711_003_00-p1",
            "pubtabnet_PMC4003957_018_00-p1",
        ),
        least_teds=0.93,
        least_cells=0.82,
    ),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    cache = tmp_path_factory.mktemp("readings")
    with EngineProcess(runners()["embedded"], cache, 120.0) as process:
        yield process


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Case]:
    return {case.name: case for case in corpora.documents(shared)}


@pytest.mark.parametrize("floor", FLOORS, ids=lambda f: f.kind)
def test_kind_is_read_no_worse_than_before(
    floor: Floor, engine: EngineProcess, cases: dict[str, Case]
) -> None:
    scores = [_score(engine, cases[name]) for name in floor.cases]
    problems = [error for item in scores for error in item.errors]
    assert not problems
    table = [(s.case, s.cer, s.teds, s.cells) for s in scores]
    if floor.most_cer is not None:
        assert fmean(s.cer for s in scores if s.cer is not None) <= floor.most_cer, table
    if floor.least_teds is not None:
        assert fmean(s.teds for s in scores if s.teds is not None) >= floor.least_teds, table
    if floor.least_cells is not None:
        assert fmean(s.cells for s in scores if s.cells is not None) >= floor.least_cells, table


def _score(engine: EngineProcess, case: Case) -> Score:
    return score(case, [engine.read(case.path, page) for page in case.pages])
