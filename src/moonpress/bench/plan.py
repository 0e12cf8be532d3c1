"""How long a fleet of GPUs takes for so many papers, and what that costs.

Owns the plan and how sure it is. Never simulates faults: see `moonpress.bench.fleet_simulation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from moonpress.bench.gpu_kinds import GpuKind
from moonpress.bench.published import PUBLISHED, field_factor, field_ratios, is_measured
from moonpress.bench.roofline import ORIGINAL, TUNED, PageWork, Speed, room_gb, speed_of
from moonpress.errors import UsageError

# A replica with fewer pages at once wastes its GPU on reading weights.
_FEWEST_SEQUENCES: Final = 8
# Of drawing, encoding, parsing and writing a scanned page (docs/performance.md).
_CPU_SECONDS: Final = 0.079
# Of our own runs on the same GPU.
_SPREAD: Final = 0.12


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What is to be planned.

    Attributes:
        kind: Of GPU.
        gpus: How many.
        papers: To read.
        pages_per_paper: On average.
        work: Of a page.
        price_per_hour: Of one GPU, in any currency; ``None`` when unknown.
    """

    kind: GpuKind
    gpus: int
    papers: float
    pages_per_paper: float
    work: PageWork
    price_per_hour: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to expect.

    Attributes:
        request: What was asked.
        per_replica: GPUs of one replica, with tensor parallelism when more than one.
        replicas: Of them.
        speed: Of one replica by the roofline, before what others saw is taken into account.
        rate: Pages a second of the fleet.
        low: The same, if no preset helps and all goes as badly as in the worst published case.
        high: The same, if this GPU reaches as much of its roofline as the one that we measured.
    """

    request: PlanRequest
    per_replica: int
    replicas: int
    speed: Speed
    rate: float
    low: float
    high: float

    @property
    def seconds(self) -> float:
        """Until all papers are read."""
        return self.request.papers * self.request.pages_per_paper / self.rate


def plan_of(request: PlanRequest) -> Plan:
    """Plan a fleet.

    Raises:
        UsageError: the model does not fit into so many GPUs, or there is nothing to plan.
    """
    for per_replica in (1, 2, 4, 8):
        speed = speed_of(request.kind, request.work, TUNED, gpus=per_replica)
        if speed is not None and speed.sequences >= _FEWEST_SEQUENCES:
            break
    else:
        raise UsageError("the model does not fit into eight of these GPUs", hint="Plan for others")
    replicas = request.gpus // per_replica
    if not replicas:
        raise UsageError(
            f"one replica needs {per_replica} of these GPUs", hint=f"Give --gpus {per_replica}"
        )
    high = replicas * speed.pages_per_second
    if is_measured(request.kind.name):
        return Plan(
            request, per_replica, replicas, speed, high, high * (1 - _SPREAD), high * (1 + _SPREAD)
        )
    slow = speed_of(request.kind, request.work, ORIGINAL, gpus=per_replica) or speed
    low = replicas * slow.pages_per_second * min(field_ratios())
    return Plan(request, per_replica, replicas, speed, high * field_factor(), low, high)


def plan_answer(plan: Plan) -> dict[str, Any]:
    """The plan, ready for JSON."""
    request, gpus = plan.request, plan.replicas * plan.per_replica
    days = plan.seconds / 86400
    hours = plan.seconds / 3600
    price = request.price_per_hour

    def papers_per_hour(rate: float) -> float:
        return round(rate / gpus * 3600 / request.pages_per_paper, 1)

    return {
        "gpu": request.kind.full_name,
        "gpus": request.gpus,
        "layout": {"replicas": plan.replicas, "tensor_parallel": plan.per_replica},
        "pages_per_second_per_gpu": round(plan.rate / gpus, 3),
        "papers_per_hour_per_gpu": papers_per_hour(plan.rate),
        "pages_per_second": round(plan.rate, 2),
        "pages": round(request.papers * request.pages_per_paper),
        "days": round(days, 3),
        "cost": None if price is None else round(price * request.gpus * hours, 2),
        "cost_per_1000_pages": None
        if price is None
        else round(price * request.gpus / plan.rate / 3.6, 3),
        "bound_by": plan.speed.bound_by,
        "gpu_seconds_per_page": {
            "prefill": round(plan.speed.prefill_seconds * plan.per_replica, 4),
            "decode": round(plan.speed.decode_seconds * plan.per_replica, 4),
        },
        "memory": {
            "for_sequences_gb": round(room_gb(request.kind, plan.per_replica), 1),
            "pages_in_flight": plan.speed.sequences * plan.replicas,
        },
        "client_cores": round(plan.rate * _CPU_SECONDS, 1),
        "error_band": {
            "papers_per_hour_per_gpu": [papers_per_hour(plan.low), papers_per_hour(plan.high)],
            "pages_per_second_per_gpu": [round(plan.low / gpus, 3), round(plan.high / gpus, 3)],
            "days": [round(days * plan.rate / plan.high, 3), round(days * plan.rate / plan.low, 3)],
        },
        "checks": _checks(),
    }


def _checks() -> list[dict[str, Any]]:
    """What others published, beside the roofline."""
    return [
        {
            "gpu": one.gpu,
            "published_pages_per_second": round(one.pages_per_second, 3),
            "roofline_pages_per_second": round(one.predicted, 3),
            "published_to_roofline": round(one.ratio, 2),
            "flags": one.flags.name,
            "conditions": one.conditions,
            "used": one.comparable,
        }
        for one in PUBLISHED
    ]
