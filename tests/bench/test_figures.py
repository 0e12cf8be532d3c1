"""Tests of `moonpress.bench.figures`: a server of known speed gets the figures that it has."""

from __future__ import annotations

import pytest

from moonpress.bench.figures import figures_of
from moonpress.bench.load import Load, Sample


def _load(pages: int, clients: int) -> Load:
    return Load(pages=pages, clients=clients, model="m", prompt="p")


def _constant(pages: int, clients: int, seconds: float) -> list[Sample]:
    """A server that gives every page so many seconds, whatever else it reads."""
    rounds = pages // clients
    return [
        Sample(turn * seconds, turn * seconds + 0.1, (turn + 1) * seconds, 4000, 1000)
        for turn in range(rounds)
        for _ in range(clients)
    ]


def test_a_server_of_constant_speed() -> None:
    figures = figures_of(_load(40, 4), _constant(40, 4, 2.0))
    assert figures["pages"] == 40
    assert figures["failed"] == 0
    assert figures["pages_per_second"] == pytest.approx(2.0)
    assert figures["steady"]["pages_per_second"] == pytest.approx(2.0)
    assert figures["steady"]["output_tokens_per_second"] == pytest.approx(2000.0)
    assert figures["latency"]["p50"] == figures["latency"]["max"] == pytest.approx(2.0)
    assert figures["time_to_first_token"]["p99"] == pytest.approx(0.1)


def test_a_slow_start_and_a_long_tail_are_not_in_the_steady_part() -> None:
    first = [Sample(0.0, 9.0, 10.0, 1, 1) for _ in range(4)]
    middle = [Sample(10.0 + t, 10.0 + t, 11.0 + t, 1, 1) for t in range(20) for _ in range(4)]
    last = [Sample(30.0, 30.0, 90.0, 1, 1)]
    figures = figures_of(_load(85, 4), [*first, *middle, *last])
    assert figures["pages_per_second"] < 1.0
    assert figures["steady"]["pages_per_second"] == pytest.approx(4.0)


def test_failures_are_counted_and_are_no_speed() -> None:
    failed = [Sample(0.0, None, 0.001, error="refused") for _ in range(100)]
    figures = figures_of(_load(108, 4), [*failed, *_constant(8, 4, 1.0)])
    assert figures["failed"] == 100
    assert figures["first_error"] == "refused"
    assert figures["pages_per_second"] == pytest.approx(4.0)


def test_a_load_too_short_has_no_steady_part() -> None:
    assert figures_of(_load(8, 4), _constant(8, 4, 1.0))["steady"] is None
    nothing = figures_of(_load(1, 1), [])
    assert nothing["latency"] is None
    assert nothing["pages_per_second"] == 0.0
