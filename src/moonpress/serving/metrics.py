"""What the service tells Prometheus.

Owns names and labels, for what the service itself knows: replicas and GPUs have collectors of their
own, which are registered here. Never serves them: see `moonpress.serving.routes_info`.
"""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from moonpress.document import Page
from moonpress.serving.gpu_metrics import GpuCollector

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
# Some take less than a millisecond, such as waiting for a place that is free.
_STAGE_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, *_SECONDS)
STAGES = ("queue", "render", "encode", "engine", "output")


class Metrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(GpuCollector())
        self.requests = self._counter("moonpress_requests", "Requests answered", "route", "status")
        self.request_seconds = self._histogram(
            "moonpress_request_seconds", "From request to the end of the answer", "route"
        )
        self.pages = self._counter("moonpress_pages", "Pages by how they ended", "status")
        self.page_seconds = self._histogram("moonpress_page_seconds", "Of a page in the engine")
        self.stage_seconds = self._histogram(
            "moonpress_stage_seconds",
            "Of one step: waiting for a place, drawing a page, encoding its picture, reading it,"
            " writing the answer",
            "stage",
            buckets=_STAGE_SECONDS,
        )
        for stage in STAGES:
            self.stage_seconds.labels(stage)
        self.first_piece_seconds = self._histogram(
            "moonpress_first_piece_seconds",
            "From a chat with stream to the first piece of its text, or of a raw answer",
        )
        self.prompt_tokens = self._counter("moonpress_prompt_tokens", "Read by the model")
        self.output_tokens = self._counter("moonpress_output_tokens", "Written by the model")
        self.working = Gauge("moonpress_in_flight", "Requests at work", registry=self.registry)
        self.waiting = Gauge("moonpress_queue", "Requests that wait", registry=self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, registry=self.registry)

    def _histogram(
        self, name: str, words: str, *labels: str, buckets: Sequence[float] = _SECONDS
    ) -> Histogram:
        return Histogram(name, words, labels, buckets=buckets, registry=self.registry)

    def page_done(self, page: Page) -> None:
        """Count a page."""
        self.pages.labels(page.status.value).inc()
        self.page_seconds.observe(page.usage.seconds)
        self.prompt_tokens.inc(page.usage.prompt_tokens or 0)
        self.output_tokens.inc(page.usage.output_tokens or 0)

    def first_piece(self, seconds: float) -> None:
        """Count the first piece of a stream."""
        self.first_piece_seconds.observe(seconds)

    def raw_done(self, seconds: float, prompt_tokens: int, output_tokens: int) -> None:
        """Count a page whose reading was passed on as it came, so that nobody judged it."""
        self.pages.labels("raw").inc()
        self.page_seconds.observe(seconds)
        self.prompt_tokens.inc(prompt_tokens)
        self.output_tokens.inc(output_tokens)
