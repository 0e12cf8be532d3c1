"""Tests of `moonpress.batch.bound`: the part that held a run back is named, with its evidence."""

from __future__ import annotations

import time

import pytest

from moonpress.batch.bound import bound_of
from moonpress.batch.machine import CoreTime
from moonpress.batch.meter import Meter


def _meter(*, cores: float = 0.3, **seconds: float) -> Meter:
    """A run of 100 seconds with 10 places of the engine and 2 render workers."""
    meter = Meter(began=time.perf_counter() - 100, pages=1000)
    meter.cores_at_start = None
    if cores:
        meter.cores_at_start = CoreTime(0, 0)
    meter.staff(2, 10)
    for name, value in seconds.items():
        getattr(meter, name).seconds = value
    return meter


@pytest.mark.parametrize(
    ("seconds", "by"),
    [
        ({"reading": 950.0}, "engine"),
        ({"reading": 600.0, "offering": 120.0}, "engine"),
        ({"reading": 950.0, "sending": 200.0}, "engine"),
        ({"reading": 950.0, "sending": 600.0}, "network"),
        # A slow line keeps pages in the engine's places; that alone says nothing.
        ({"reading": 300.0, "sending": 250.0}, "input"),
        ({"reading": 300.0, "drawing": 190.0}, "render"),
        ({"reading": 300.0, "drawing": 190.0, "encoding": 150.0}, "encode"),
        ({"reading": 300.0, "drawing": 60.0, "opening": 120.0}, "render"),
        ({"reading": 300.0, "drawing": 60.0, "opening": 120.0, "fetching": 110.0}, "network"),
        ({"reading": 300.0, "writing": 95.0}, "write"),
        ({"reading": 100.0}, "input"),
    ],
)
def test_the_busy_part_is_named(
    seconds: dict[str, float], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpress.batch.meter.core_time", lambda: CoreTime(50, 100))
    bound = bound_of(_meter(**seconds))
    assert bound.by == by
    assert "10 places" in bound.evidence
    assert all(-0.001 <= share <= 1 for share in bound.shares.values())


def test_cores_that_are_all_busy_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonpress.batch.meter.core_time", lambda: CoreTime(97, 100))
    bound = bound_of(_meter(reading=300.0, drawing=190.0))
    assert bound.by == "cpu"
    assert "97%" in bound.evidence


def test_a_run_without_pages() -> None:
    assert bound_of(Meter()).by == "start"
