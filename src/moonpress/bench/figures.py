"""From the samples of a load to figures.

Owns the steady part and the percentiles. Never measures.

A run has three parts: all clients start at once (ramp-up), the server is kept full (steady), the
last pages end (tail). Rates are of the steady part: from the end of the first pages, as many as
there are clients, to the moment when the last page was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moonpress.bench.load import Load, Sample


def figures_of(load: Load, samples: Sequence[Sample]) -> dict[str, Any]:
    """The figures of a load; seconds and tokens.

    Args:
        load: What was sent.
        samples: Pages in the order in which they ended.
    """
    good = [one for one in samples if one.error is None]
    errors = [one.error for one in samples if one.error is not None]
    wall = max((one.ended for one in samples), default=0.0)
    steady = _steady(load, good)
    return {
        "pages": len(samples),
        "failed": len(errors),
        "first_error": errors[0] if errors else None,
        "seconds": round(wall, 2),
        "pages_per_second": _rate(len(good), wall),
        "steady": steady,
        "output_tokens_per_second": _rate(sum(one.output_tokens for one in good), wall),
        "input_tokens_per_second": _rate(sum(one.prompt_tokens for one in good), wall),
        "output_tokens_per_page": _mean([one.output_tokens for one in good]),
        "input_tokens_per_page": _mean([one.prompt_tokens for one in good]),
        "latency": _spread([one.ended - one.sent for one in good]),
        "time_to_first_token": _spread([one.first - one.sent for one in good if one.first]),
    }


def _steady(load: Load, good: Sequence[Sample]) -> dict[str, Any] | None:
    """Rates while the server was full; ``None`` for loads too short to have such a part."""
    ended = sorted(good, key=lambda one: one.ended)
    if len(ended) < 3 * load.clients:
        return None
    begin = ended[load.clients - 1].ended
    end = max(one.sent for one in good)
    inside = [one for one in ended[load.clients :] if one.ended <= end]
    if end <= begin or not inside:
        return None
    seconds = end - begin
    return {
        "from": round(begin, 2),
        "to": round(end, 2),
        "pages": len(inside),
        "pages_per_second": _rate(len(inside), seconds),
        "output_tokens_per_second": _rate(sum(one.output_tokens for one in inside), seconds),
    }


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    return {
        "mean": round(sum(ordered) / len(ordered), 3),
        **{f"p{p}": round(_percentile(ordered, p / 100), 3) for p in (50, 90, 95, 99)},
        "max": round(ordered[-1], 3),
    }


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Linear between neighbours."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _rate(count: float, seconds: float) -> float:
    return round(count / seconds, 3) if seconds else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 1) if values else 0.0
