"""Tests of `moonpress.bench.fleet_simulation`: what must hold whatever chance does."""

from __future__ import annotations

import pytest

from moonpress.bench.fleet_simulation import Faults, Fleet, simulate, simulation_answer

_HEALTHY = Faults(mtbf_hours=1e9, restart_minutes=5, stragglers=0)


def _fleet(faults: Faults, *, replicas: int = 8, seed: int = 1) -> Fleet:
    return Fleet(
        replicas=replicas,
        pages_per_second=2.0,
        in_flight=100,
        pages_per_paper=20,
        faults=faults,
        seed=seed,
    )


def test_a_fleet_without_faults_takes_as_long_as_the_pages_say() -> None:
    happened = simulate(_fleet(_HEALTHY), 4000, per_year=None)
    assert happened.papers == 4000
    assert happened.pages == pytest.approx(80_000, rel=0.05)
    assert happened.seconds == pytest.approx(happened.pages / 16, rel=0.02)
    assert happened.failures == 0
    assert happened.lost_pages == 0


@pytest.mark.parametrize("seed", range(5))
def test_every_paper_is_read_once_however_often_replicas_fail(seed: int) -> None:
    faults = Faults(mtbf_hours=0.2, restart_minutes=5, stragglers=0.25)
    healthy = simulate(_fleet(_HEALTHY, seed=seed), 2000, per_year=None)
    failing = simulate(_fleet(faults, seed=seed), 2000, per_year=None)
    assert failing.papers == len(failing.waits) == 2000
    assert failing.failures > 20
    assert 0 < failing.lost_pages <= failing.failures * 100
    assert failing.seconds > 1.3 * healthy.seconds
    # Whoever is busy reads pages that count, or pages that are lost.
    slowest = 2.0 * faults.straggler_speed
    read = failing.pages + failing.lost_pages
    assert read / 2.0 * 0.999 <= failing.busy_seconds <= read / slowest * 1.001


def test_stragglers_cost_what_they_are_slower() -> None:
    slow = Faults(mtbf_hours=1e9, restart_minutes=5, stragglers=0.5)
    happened = simulate(_fleet(slow), 4000, per_year=None)
    assert happened.seconds == pytest.approx(happened.pages / (8 * 2.0 * 0.85), rel=0.03)


def test_papers_that_come_wait_longer_where_more_come() -> None:
    year = 365.25 * 86400
    full = 2.0 / 20 * year
    waits = []
    for share in (0.3, 0.9):
        happened = simulate(_fleet(_HEALTHY, replicas=1), 5000, per_year=share * full)
        answer = simulation_answer(_fleet(_HEALTHY, replicas=1), happened)
        assert answer["busy"] == pytest.approx(share, rel=0.1)
        waits.append(answer["hours_from_arrival"]["p95"])
    assert waits[1] > 2 * waits[0]


def test_chance_is_the_same_each_time() -> None:
    faults = Faults(mtbf_hours=1, restart_minutes=5, stragglers=0.1)
    assert simulate(_fleet(faults), 500, per_year=None) == simulate(
        _fleet(faults), 500, per_year=None
    )
