"""How many jobs there are, for Prometheus.

Owns the name and the label. Never counts jobs: see `moonpress.serving.jobs.store`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector


class JobCollector(Collector):
    """Tells how many jobs are in each state when Prometheus asks.

    Args:
        counts: Jobs by state, now.
    """

    def __init__(self, counts: Callable[[], Mapping[str, int]]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Jobs by state."""
        jobs = GaugeMetricFamily("moonpress_jobs", "That are not forgotten yet", labels=("state",))
        for state, count in self._counts().items():
            jobs.add_metric((state,), count)
        yield jobs
