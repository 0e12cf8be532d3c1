"""Tests of ``chandra-bench plan``: the roofline, the plan, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moonpress.bench.gpu_kinds import KINDS, find_kind
from moonpress.bench.plan import PlanRequest, plan_of
from moonpress.bench.published import PUBLISHED, field_ratios
from moonpress.bench.roofline import ORIGINAL, TUNED, PageWork, speed_of
from moonpress.errors import UnknownName, UsageError

_COMMAND = Path(sys.executable).with_name("chandra-bench")


def _plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_COMMAND, "plan", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def _json(*arguments: str) -> dict[str, Any]:
    done = _plan(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_roofline_is_fitted_to_what_was_measured_on_an_h200() -> None:
    h200, page = find_kind("h200"), PageWork()
    tuned, original = speed_of(h200, page, TUNED), speed_of(h200, page, ORIGINAL)
    assert tuned is not None
    assert original is not None
    assert tuned.pages_per_second == pytest.approx(3.86, rel=0.01)
    assert original.pages_per_second == pytest.approx(2.30, rel=0.01)
    # The floor that was worked out by hand for 190 pages at once: 69 ms and 79 ms.
    floor = TUNED.reached * (tuned.prefill_seconds + tuned.decode_seconds)
    assert floor == pytest.approx(0.148, rel=0.05)


def test_what_others_published_lies_in_the_band() -> None:
    for one in PUBLISHED:
        if one.comparable and not one.measured_here:
            plan = plan_of(PlanRequest(find_kind(one.gpu), 1, 100, 20, PageWork(), None))
            assert plan.low <= one.pages_per_second * 1.001
            assert plan.low < plan.rate < plan.high
    assert all(0.5 < ratio < 1 for ratio in field_ratios())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_more_to_read_takes_longer_on_every_gpu(kind: Any) -> None:
    usual = speed_of(kind, PageWork(), TUNED)
    longer = speed_of(kind, PageWork(output_tokens=2300), TUNED)
    smaller = speed_of(kind, PageWork(visual_tokens=1750), TUNED)
    assert usual is not None
    assert longer is not None
    assert smaller is not None
    assert longer.pages_per_second < usual.pages_per_second < smaller.pages_per_second
    assert usual.sequences <= TUNED.sequences


@pytest.mark.parametrize("name", ["RTX 4090", "NVIDIA L40S", "H-100", "b200"])
def test_gpus_have_the_names_that_people_use(name: str) -> None:
    assert find_kind(name).name in {"4090", "l40s", "h100", "b200"}


def test_a_model_that_does_not_fit_is_refused_or_parted() -> None:
    with pytest.raises(UnknownName):
        find_kind("tpu")
    small = find_kind("l4")
    tiny = type(small)("tiny", "Tiny", 10, 0.1, 12)
    plan = plan_of(PlanRequest(tiny, 4, 10, 10, PageWork(), None))
    assert plan.per_replica > 1
    with pytest.raises(UsageError, match="needs 2"):
        plan_of(PlanRequest(tiny, 1, 10, 10, PageWork(), None))


def test_the_command_answers_what_planners_ask() -> None:
    asked = ("--gpu", "l40s", "--gpus", "16", "--papers", "27000", "--pages-per-paper", "20")
    answer = _json(*asked, "--price-per-hour", "1.8")
    low, high = answer["error_band"]["papers_per_hour_per_gpu"]
    # Published: about 60, with the original's flags.
    assert low == pytest.approx(60, rel=0.02)
    assert low < answer["papers_per_hour_per_gpu"] < high
    assert answer["papers_per_hour_per_gpu"] == pytest.approx(
        answer["pages_per_second_per_gpu"] * 180, rel=0.01
    )
    assert answer["cost"] == pytest.approx(1.8 * 16 * answer["days"] * 24, rel=0.01)
    assert answer["bound_by"] == "decode"
    assert answer["layout"] == {"replicas": 16, "tensor_parallel": 1}
    assert {one["gpu"] for one in answer["checks"]} == {"h200", "h100", "l40s", "3090"}
    words = _plan(*asked)
    assert words.returncode == 0
    assert "papers/h" in words.stdout


def test_papers_of_a_year_are_simulated() -> None:
    answer = _json("--gpu", "h200", "--papers-per-year", "3500000", "--simulate")
    simulated = answer["simulation"]
    assert simulated["days"] == pytest.approx(28, rel=0.02)
    assert simulated["busy"] == pytest.approx(answer["gpus_kept_busy"], rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gpu", "h200"), "there must be one of --papers and --papers-per-year"),
        (("--papers", "1", "--gpu", "abacus"), "no GPU is called 'abacus'"),
        (("--papers-per-year", "9000000000", "--simulate"), "read less in a year"),
    ],
)
def test_what_makes_no_sense_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = _plan(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
