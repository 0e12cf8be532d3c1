"""What the servers behind the engine do, for Prometheus.

Owns names and labels. Never asks a server: what is told is what the service knows anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from moonpress.serving.replicas.report import ReplicaReport, State

_LABEL = ("replica",)


class ReplicaCollector(Collector):
    """Tells how replicas are when Prometheus asks.

    Args:
        reports: How they are now.
    """

    def __init__(self, reports: Callable[[], Sequence[ReplicaReport]]) -> None:
        self._reports = reports

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """All measures of all replicas."""
        reports = self._reports()
        states = GaugeMetricFamily(
            "moonpress_replica_state", "1 for the state that it is in", labels=("replica", "state")
        )
        pages = GaugeMetricFamily("moonpress_replica_in_flight", "Pages at it", labels=_LABEL)
        size = GaugeMetricFamily(
            "moonpress_replica_in_flight_bytes", "Of the pictures of its pages", labels=_LABEL
        )
        held = GaugeMetricFamily(
            "moonpress_replica_memory_bytes", "Held by its processes", labels=_LABEL
        )
        restarts = CounterMetricFamily(
            "moonpress_replica_restarts", "Since the service started", labels=_LABEL
        )
        for one in reports:
            name = (one.name,)
            for state in State:
                states.add_metric((one.name, state.value), float(one.state is state))
            pages.add_metric(name, one.in_flight)
            size.add_metric(name, one.bytes_in_flight)
            restarts.add_metric(name, one.restarts)
            if one.bytes_held is not None:
                held.add_metric(name, one.bytes_held)
        yield from (states, pages, size, held, restarts)
