"""``deploy/grafana/moonpress.json`` against what a real service tells Prometheus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.serving.conftest import Start
from tests.serving.upstream import inked, model_server, page_request

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
# Of GPUs and of replicas that are not there nothing but the name is told.
_KEPT = {"instance", "le"}


def _expressions(checkout: Path) -> Iterator[str]:
    text = (checkout / "deploy" / "grafana" / "moonpress.json").read_text()
    dashboard: dict[str, Any] = json.loads(text)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]


@pytest.fixture(scope="module")
def told(start: Start) -> str:
    """All metrics of a service that has read a page."""
    with model_server() as server:
        served = start("--engine", "vllm", "--url", server.url)
        with httpx.Client(base_url=served.url, timeout=60, trust_env=False) as client:
            answer = client.post("/v1/chat/completions", json=page_request(inked(), stream=True))
            assert answer.status_code == 200
            return client.get("/metrics").text


def test_the_dashboard_asks_for_nothing_that_is_not_told(checkout: Path, told: str) -> None:
    families = list(text_string_to_metric_families(told))
    known = {f"{one.name}{suffix}" for one in families for suffix in _SUFFIXES[one.type]}
    asked = {name for text in _expressions(checkout) for name in re.findall(r"moonpress_\w+", text)}
    assert len(asked) > 15
    assert asked - known == set()


def test_the_dashboard_shows_all_that_is_told(checkout: Path, told: str) -> None:
    text = " ".join(_expressions(checkout))
    names = {one.name for one in text_string_to_metric_families(told)}
    shown = {name for name in names if name in text}
    # When a counter was made is of no use to anybody.
    assert {name for name in names - shown if not name.endswith("_created")} == set()


def test_labels_that_are_asked_for_are_told(checkout: Path, told: str) -> None:
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(told):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    for text in _expressions(checkout):
        for by, name in re.findall(r"by \(([^)]*)\) \(rate\((moonpress_\w+)", text):
            assert set(by.split(", ")) - _KEPT <= labels.get(name, set()), text


def test_stages_are_measured(told: str) -> None:
    for stage in ("queue", "render", "encode", "engine", "output"):
        assert f'moonpress_stage_seconds_count{{stage="{stage}"}} 1.0' in told
    assert "moonpress_first_piece_seconds_count 1.0" in told
    assert "moonpress_prompt_tokens_total 900.0" in told
