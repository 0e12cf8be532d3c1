"""What a gateway adds to a page request of 600 KB: ours, nginx and vllm-router, in one run.

``python -m benchmarks.serving.gateway [--router PATH] [--rounds N] [--seconds S]``. The gateways
share one core, the client and the server behind them another. Targets take turns, so that whatever
else the machine does meets all of them, and rounds in which it did much do not count for more than
others. Printed is what each target adds to the direct way, by quantile.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

import orjson
import uvloop

from benchmarks.serving.load import Target, steady
from benchmarks.serving.started import gateway, nginx, printing_its_port, vllm_router

_PICTURE = 450_000  # bytes, of which base64 makes 600,000 characters
_BARS = {50: 3.0, 99: 10.0}


def page_body() -> bytes:
    picture = base64.b64encode(random.Random(7).randbytes(_PICTURE)).decode()
    content = [
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{picture}"}},
        {"type": "text", "text": "prompt " * 380},
    ]
    request = {
        "model": "chandra",
        "messages": [{"role": "user", "content": content}],
        "max_tokens": 12384,
        "temperature": 0.0,
    }
    return orjson.dumps(request)


def quantile(values: list[float], percent: float) -> float:
    """Milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


@dataclass(slots=True)
class Taken:
    """What one target took.

    Attributes:
        rounds: Seconds of each request, by round.
        cpu: Seconds of its program over all requests.
    """

    rounds: list[list[float]] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def all(self) -> list[float]:
        return list(chain.from_iterable(self.rounds))


async def measure(
    targets: list[Target], body: bytes, *, rounds: int, rate: float, seconds: float
) -> dict[str, Taken]:
    taken = {target.name: Taken() for target in targets}
    for number in range(rounds):
        for target in targets[number % len(targets) :] + targets[: number % len(targets)]:
            before = target.cpu_seconds()
            answers = await steady(target, body, rate=rate, seconds=seconds)
            taken[target.name].rounds.append(answers)
            taken[target.name].cpu += target.cpu_seconds() - before
    return taken


def added(one: Taken, direct: Taken, percent: float) -> list[float]:
    """What was added to the direct way in each round, in milliseconds."""
    return [
        quantile(mine, percent) - quantile(base, percent)
        for mine, base in zip(one.rounds, direct.rounds, strict=True)
    ]


def report(taken: dict[str, Taken]) -> bool:
    """Print a line for each target; whether ours is within the bars in the median round."""
    direct = taken["direct"]
    print(f"{len(direct.all)} requests each; milliseconds; +p50 and +p99: median of the rounds")
    print(f"{'':14}{'p50':>8}{'p99':>8}{'+p50':>8}{'+p99':>8}{'CPU':>8}   +p50, +p99 by round")
    for name, one in taken.items():
        more = {at: added(one, direct, at) for at in _BARS}
        by_round = " ".join(
            f"{p50:.1f},{p99:.1f}" for p50, p99 in zip(more[50], more[99], strict=True)
        )
        print(
            f"{name:14}{quantile(one.all, 50):8.2f}{quantile(one.all, 99):8.2f}"
            f"{median(more[50]):8.2f}{median(more[99]):8.2f}"
            f"{1000 * one.cpu / len(one.all):8.2f}   {by_round}"
        )
    ours = taken["chandra-serve"]
    return all(median(added(ours, direct, at)) <= bar for at, bar in _BARS.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--router", default=shutil.which("vllm-router"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=50.0)
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    mine, theirs = cores[0], cores[-1]
    os.sched_setaffinity(0, {mine})
    print(f"load before: {os.getloadavg()[0]:.2f}; cores: client {mine}, gateways {theirs}")
    with ExitStack() as stack:
        upstream = stack.enter_context(printing_its_port("benchmarks.serving.upstream", core=mine))
        found = [
            Target("direct", upstream),
            stack.enter_context(gateway(upstream, theirs)),
            stack.enter_context(nginx(upstream, theirs)),
            stack.enter_context(vllm_router(given.router, upstream, theirs)),
        ]
        targets = [one for one in found if one is not None]
        for name in {"nginx", "vllm-router"} - {one.name for one in targets}:
            print(f"{name} is not installed: left out")
        run = measure(
            targets, page_body(), rounds=given.rounds, rate=given.rate, seconds=given.seconds
        )
        taken = uvloop.run(run)
    well = report(taken)
    print(f"+p50 <= {_BARS[50]} and +p99 <= {_BARS[99]}: {'yes' if well else 'NO'}")
    print(f"load after: {os.getloadavg()[0]:.2f}")
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
