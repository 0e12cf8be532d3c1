"""``python -m tests.batch.ray_nodes COUNT``: a Ray cluster of several nodes on this machine.

Owns starting and stopping its processes. Prints the address; ``kill N`` on standard input kills
node N (0 is the head) as a power cut would, ``add`` starts another; both are answered. The cluster
ends with its standard input.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_MEMORY = 80_000_000


def main() -> None:
    """Serve until nobody is there."""
    cluster: Any = import_module("ray.cluster_utils").Cluster()
    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": _MEMORY}
    # Its second CPU is for the workers of a second driver.
    nodes = [cluster.add_node(**{**node, "num_cpus": 2}, include_dashboard=False)]
    nodes += [cluster.add_node(**node, wait=False) for _ in range(int(sys.argv[1]) - 1)]
    cluster.wait_for_nodes()
    _say(cluster.address)
    for line in sys.stdin:
        what, _, number = line.strip().partition(" ")
        if what == "kill":
            cluster.remove_node(nodes[int(number)], allow_graceful=False)
        else:
            nodes.append(cluster.add_node(**node))
        _say("done")
    cluster.shutdown()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
