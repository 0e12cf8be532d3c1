"""Engines under measurement: answers, failures, limits and the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.accuracy.engine_process import EngineProcess
from benchmarks.accuracy.runners import Runner, runners


@dataclass(frozen=True, slots=True)
class FakeRunner(Runner):
    @property
    def factory(self) -> str:
        return "tests.benchmarks.fake_runner:create"

    @property
    def source(self) -> Path:
        return Path(__file__).with_name("fake_runner.py")

    def version(self) -> str:
        return "1"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EngineProcess]:
    with EngineProcess(FakeRunner("fake", ""), tmp_path / "cache", 3.0) as process:
        yield process


def order(folder: Path, text: str) -> Path:
    path = folder / f"{text}.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_and_measures(engine: EngineProcess, tmp_path: Path) -> None:
    reading = engine.read(order(tmp_path, "work"), 4)
    assert reading.markdown == "work 4"
    assert 0.19 <= reading.cpu_seconds < 1.0
    assert reading.peak_mb > 5


@pytest.mark.parametrize(
    ("told", "said"), [("fail", "ValueError: as told"), ("die", "ended"), ("hang", "over 3 s")]
)
def test_goes_on_after_a_failure(
    engine: EngineProcess, tmp_path: Path, told: str, said: str
) -> None:
    assert said in engine.read(order(tmp_path, told), 1).error
    assert engine.read(order(tmp_path, "next"), 1).markdown == "next 1"


def test_second_reading_comes_from_the_cache(tmp_path: Path) -> None:
    path = order(tmp_path, "work")
    with EngineProcess(FakeRunner("fake", ""), tmp_path / "cache", 3.0) as engine:
        first = engine.read(path, 1)
    with EngineProcess(FakeRunner("fake", ""), tmp_path / "cache", 3.0) as engine:
        assert engine.read(path, 1) == first
    changed = FakeRunner("fake", "", {"suffix": "!"})
    with EngineProcess(changed, tmp_path / "cache", 3.0) as engine:
        assert engine.read(path, 1).markdown == "work 1!"


def test_warm_up_is_read_first_and_kept_from_the_cache(tmp_path: Path) -> None:
    warm = order(tmp_path, "work")
    with EngineProcess(FakeRunner("fake", ""), tmp_path / "cache", 3.0, [warm]) as engine:
        reading = engine.read(order(tmp_path, "next"), 1)
    assert reading.cpu_seconds < 0.15
    assert len(list((tmp_path / "cache" / "fake").iterdir())) == 1


def test_every_runner_has_its_file_and_a_factory() -> None:
    for runner in runners().values():
        assert "def create(" in runner.source.read_text(encoding="utf-8")
        assert "def version(" in runner.source.read_text(encoding="utf-8")
