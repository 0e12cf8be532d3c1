"""Spans of requests: in OpenTelemetry's way, and as seconds by stage for Prometheus.

Owns what spans are called outside and the joining of traces over processes (W3C Trace Context).
Never puts text of a document into one, and never decides where spans go: that is up to
OpenTelemetry's SDK, with its own environment variables; without it spans go nowhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import propagate, trace

from moonpress.serving.metrics import STAGES, Metrics

_CARRIED = (b"traceparent", b"tracestate", b"baggage")


class Tracing:
    """Watches the spans of a service.

    Args:
        metrics: Gets the seconds of those that are stages.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        # A proxy: an SDK that is set up later is used from then on.
        self._tracer = trace.get_tracer("moonpress.serving")

    @contextmanager
    def request(self, headers: Mapping[bytes, bytes], method: str, identity: str) -> Iterator[None]:
        """Around a request; part of the trace that its headers name, if they do."""
        carrier = {
            name.decode(): headers[name].decode("latin-1") for name in _CARRIED if name in headers
        }
        context = propagate.extract(carrier) if carrier else None
        fields = {"http.request.method": method, "moonpress.request": identity}
        with self._tracer.start_as_current_span(
            "request", context=context, kind=trace.SpanKind.SERVER, attributes=fields
        ):
            yield

    @contextmanager
    def span(self, name: str, fields: Mapping[str, object]) -> Iterator[None]:
        """Around a piece of work; see `moonpress.telemetry.span`."""
        began = time.perf_counter()
        attributes = {f"moonpress.{key}": _plain(value) for key, value in fields.items()}
        try:
            with self._tracer.start_as_current_span(name, attributes=attributes):
                yield
        finally:
            if name in STAGES:
                self._metrics.stage_seconds.labels(name).observe(time.perf_counter() - began)

    def headers(self) -> Mapping[str, str]:
        """What requests to servers carry."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return carrier


def start_exporting() -> None:
    """Send spans where OpenTelemetry's environment variables say, if they say anything.

    Raises:
        ModuleNotFoundError: they do, and its SDK is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    resource = Resource({SERVICE_NAME: "moonpress"}).merge(Resource.create())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _plain(value: object) -> str | int | float | bool:
    return value if isinstance(value, (str, int, float, bool)) else str(value)
