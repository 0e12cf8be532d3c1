"""Tests of `moonpress.serving.tracing`, and of events that name their request."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from moonpress import telemetry
from tests.serving.conftest import Start
from tests.serving.upstream import inked, model_server, page_request

_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
_PARENT = "00f067aa0ba902b7"
_HEADERS = {"traceparent": f"00-{_TRACE}-{_PARENT}-01", "x-request-id": "the-seventh"}


class _Collector(ThreadingHTTPServer):
    """Takes spans as OpenTelemetry's collector does."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        sent = ExportTraceServiceRequest.FromString(body)
        assert isinstance(self.server, _Collector)
        for resource in sent.resource_spans:
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def collector() -> Iterator[_Collector]:
    server = _Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_spans_join_the_callers_trace_and_reach_the_model_server(
    start: Start, collector: _Collector
) -> None:
    with model_server() as server:
        served = start(
            "--engine", "vllm", "--url", server.url, "--json-logs",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.server_port}",
        )  # fmt: skip
        body = page_request(inked())
        answer = httpx.post(
            f"{served.url}/v1/chat/completions",
            json=body,
            headers=_HEADERS,
            timeout=60,
            trust_env=False,
        )
        assert answer.status_code == 200
        assert answer.headers["x-request-id"] == "the-seventh"
        # Spans that wait are sent at the end.
        assert served.stop(signal.SIGTERM) == 0
        carried = server.headers[-1]["traceparent"].split("-")
    spans = {span.name: span for span in collector.spans if span.trace_id.hex() == _TRACE}
    assert set(spans) == {"request", "queue", "render", "page", "engine", "encode", "output"}
    assert spans["request"].parent_span_id.hex() == _PARENT
    assert spans["page"].parent_span_id == spans["request"].span_id
    assert spans["engine"].parent_span_id == spans["page"].span_id
    assert spans["encode"].parent_span_id == spans["engine"].span_id
    assert carried[1] == _TRACE
    assert carried[2] == spans["engine"].span_id.hex()
    assert not any("The page says" in str(span) for span in collector.spans)

    assert served.process.stderr is not None
    events = [json.loads(line) for line in served.process.stderr.read().splitlines()]
    told = {one["event"]: one for one in events if one.get("request") == "the-seventh"}
    assert set(told) == {"request", "page"}
    assert (told["page"]["page"], told["page"]["status"]) == (1, "ok")
    assert not any("The page says" in str(one) for one in events)


def test_a_collector_without_the_sdk_is_refused(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from moonpress.errors import UsageError
    from moonpress.serving import server

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(UsageError, match="not installed"):
        server._trace()


def test_spans_are_nothing_while_nobody_watches() -> None:
    with telemetry.span("engine", page=1):
        assert telemetry.outgoing_headers() == {}
