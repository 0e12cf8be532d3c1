"""What ``chandra-bench plan`` does after its options are read.

Owns the words of the plan. Never predicts: see `moonpress.bench.plan`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import orjson

from moonpress.bench.gpu_kinds import find_kind
from moonpress.bench.plan import Plan, PlanRequest, plan_answer, plan_of
from moonpress.bench.roofline import PageWork
from moonpress.cli.batch_progress import counted, duration
from moonpress.errors import EngineUnavailable, UsageError

# What is simulated at most; beyond, papers are simulated in groups.
_SIMULATED: Final = 200_000
_DAYS: Final = 28


@dataclass(frozen=True, slots=True)
class PlanCommand:
    """One call of ``chandra-bench plan``; the fields are its options."""

    gpu: str
    gpus: int
    papers: int | None
    papers_per_year: int | None
    pages_per_paper: float
    tokens_per_page: float
    price_per_hour: float | None
    simulate: bool
    mtbf_hours: float
    restart_minutes: float
    stragglers: float
    seed: int
    as_json: bool


def run_plan(command: PlanCommand) -> int:
    """Print the plan.

    Raises:
        UsageError: it makes no sense.
        EngineUnavailable: a package is missing.
    """
    if (command.papers is None) == (command.papers_per_year is None):
        raise UsageError(
            "there must be one of --papers and --papers-per-year", hint="Give one of them"
        )
    plan = plan_of(
        PlanRequest(
            kind=find_kind(command.gpu),
            gpus=command.gpus,
            papers=command.papers or command.papers_per_year or 0,
            pages_per_paper=command.pages_per_paper,
            work=PageWork(output_tokens=command.tokens_per_page),
            price_per_hour=command.price_per_hour,
        )
    )
    answer = plan_answer(plan)
    if command.papers_per_year is not None:
        answer["gpus_kept_busy"] = round(plan.seconds / (365.25 * 86400) * command.gpus, 2)
    if command.simulate:
        answer["simulation"] = _simulated(command, plan)
    if command.as_json:
        text = orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()
    else:
        text = "\n".join(_lines(plan, answer))
    sys.stdout.write(text + "\n")
    return 0


def _simulated(command: PlanCommand, plan: Plan) -> dict[str, Any]:
    try:
        from moonpress.bench.fleet_simulation import Faults, Fleet, simulate, simulation_answer
    except ModuleNotFoundError as error:
        message = f"simulating needs the package {error.name}, which is not installed"
        raise EngineUnavailable(message, hint="Run pip install 'moonpress[bench]'") from error
    papers, per_year = command.papers, command.papers_per_year
    if per_year is not None:
        if plan.seconds >= 365.25 * 86400:
            message = f"{command.gpus} GPUs read less in a year than comes in one"
            raise UsageError(message, hint="Give more --gpus, or leave --simulate out")
        papers = ceil(per_year * _DAYS / 365.25)
    group = ceil((papers or 0) / _SIMULATED)
    fleet = Fleet(
        replicas=plan.replicas,
        pages_per_second=plan.rate / plan.replicas,
        in_flight=plan.speed.sequences,
        pages_per_paper=command.pages_per_paper * group,
        faults=Faults(command.mtbf_hours, command.restart_minutes, command.stragglers),
        seed=command.seed,
    )
    happened = simulate(
        fleet, ceil((papers or 0) / group), per_year=None if per_year is None else per_year / group
    )
    return {"papers_in_a_group": group, **simulation_answer(fleet, happened)}


def _lines(plan: Plan, answer: dict[str, Any]) -> list[str]:
    request, band = plan.request, answer["error_band"]
    low, high = band["papers_per_hour_per_gpu"]
    layout = f"{plan.replicas} replica{'' if plan.replicas == 1 else 's'}"
    if plan.per_replica > 1:
        layout += f" of {plan.per_replica} GPUs each (tensor parallel)"
    prefill, decode = answer["gpu_seconds_per_page"].values()
    lines = [
        f"{request.gpus} x {request.kind.full_name}: {layout}",
        f"{answer['pages_per_second']:,} pages/s, of one GPU "
        f"{answer['pages_per_second_per_gpu']} pages/s or "
        f"{answer['papers_per_hour_per_gpu']} papers/h ({low} to {high})",
        f"{answer['pages']:,} pages in {duration(plan.seconds)} "
        f"({band['days'][0]} to {band['days'][1]} days)",
        f"Bound by {answer['bound_by']}: a page takes {prefill} s of a GPU before its first token, "
        f"{decode} s for its share of writing",
        f"{answer['memory']['pages_in_flight']} pages in flight; "
        f"{answer['memory']['for_sequences_gb']} GB a replica are left for them",
        f"{answer['client_cores']} CPU cores for drawing, encoding and writing",
    ]
    if answer["cost"] is not None:
        lines.append(f"Cost {answer['cost']:,}, {answer['cost_per_1000_pages']} for 1,000 pages")
    if "gpus_kept_busy" in answer:
        lines.append(f"A year's papers keep {answer['gpus_kept_busy']} of these GPUs busy")
    if "simulation" in answer:
        lines += _simulation_lines(answer["simulation"])
    lines.append("Rates rest on runs with random weights on an H200; --json shows how far off")
    return lines


def _simulation_lines(found: dict[str, Any]) -> list[str]:
    hours = found["hours_from_arrival"]
    return [
        f"Simulated {found['days']} days: replicas busy {found['busy']:.0%}, "
        f"{counted(found['failures'], 'failure')}, {found['pages_read_twice']:,} pages read twice; "
        f"the reading alone takes {found['days_of_reading']} days",
        f"From a paper's coming to its end: {hours['p50']} h in the middle, {hours['p95']} h for "
        "one in twenty",
    ]
