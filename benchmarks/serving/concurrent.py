"""1,000 small requests at once: every one is answered.

``python -m benchmarks.serving.concurrent [--requests N]``. First raw chats, then pages that the
service reads itself, each with a connection of its own; then raw chats again with a queue that is
too short for them, where 429 is an answer as well.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections import Counter

import orjson
import uvloop

from benchmarks.serving.gateway import quantile
from benchmarks.serving.load import Target, all_at_once
from benchmarks.serving.started import gateway, printing_its_port
from tests.serving.upstream import inked, page_request


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    count = parser.parse_args().requests
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    core = sorted(os.sched_getaffinity(0))[-1]
    body = orjson.dumps(page_request(inked()))
    print(f"load before: {os.getloadavg()[0]:.2f}")
    well = True
    for name, queue, raw in (("raw", count, True), ("read", count, False), ("full", 64, True)):
        # The second writes as a model does, 40 tokens without a pause.
        module = (
            ("benchmarks.serving.upstream",) if raw else ("benchmarks.client.server", "40", "0")
        )
        with (
            printing_its_port(*module, core=core) as upstream,
            gateway(upstream, core, "--max-queue", str(queue)) as found,
        ):
            target = found if raw else Target(found.name, found.port)
            began = time.perf_counter()
            answers = uvloop.run(all_at_once(target, body, count))
            seconds = time.perf_counter() - began
        statuses = Counter(status for status, _ in answers)
        well &= set(statuses) <= ({200} if name != "full" else {200, 429})
        slowest = quantile([taken for _, taken in answers], 100)
        print(f"{name:5} {dict(statuses)} in {seconds:.1f} s, slowest {slowest:.0f} ms")
    print(f"all answered: {'yes' if well else 'NO'}")
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
