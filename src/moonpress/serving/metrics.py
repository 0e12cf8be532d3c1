"""What the service tells Prometheus.

Owns names and labels. Never serves them: see `moonpress.serving.routes_info`.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from moonpress.document import Page

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "moonpress_requests",
            "Requests answered",
            ["route", "status"],
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "moonpress_request_seconds",
            "From request to the end of the answer",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.pages = Counter(
            "moonpress_pages", "Pages by how they ended", ["status"], registry=self.registry
        )
        self.page_seconds = Histogram(
            "moonpress_page_seconds",
            "Of a page in the engine",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.output_tokens = Counter(
            "moonpress_output_tokens", "Written by the model", registry=self.registry
        )
        self.working = Gauge("moonpress_in_flight", "Requests at work", registry=self.registry)
        self.waiting = Gauge("moonpress_queue", "Requests that wait", registry=self.registry)

    def page_done(self, page: Page) -> None:
        """Count a page."""
        self.pages.labels(page.status.value).inc()
        self.page_seconds.observe(page.usage.seconds)
        self.output_tokens.inc(page.usage.output_tokens or 0)
