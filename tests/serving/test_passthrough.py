"""Tests of raw chats: a real ``chandra-serve`` in front of model servers that follow a script."""

from __future__ import annotations

import asyncio
import json
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from benchmarks.serving.load import Target, all_at_once
from benchmarks.serving.started import RAW
from tests.cli.command import Chandra, clean_environment, install_scripted_engine
from tests.engines.scripted import CLEAN, LOOPING, event, refusing, streaming
from tests.serving.conftest import Served, Start
from tests.serving.upstream import model_server, page_request
from tests.sources.samples import png

_PICTURE = png((40, 60))
_RAW = {"X-Moonpress-Output": "raw"}
HELLO = Path(__file__).resolve().parents[1] / "data" / "hello.pdf"


def _gateway(start: Start, *urls: str, **env: str) -> Served:
    named = [word for url in urls for word in ("--url", url)]
    return start("--engine", "vllm", *named, **env)


def _post(served: Served, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    return httpx.post(
        f"{served.url}/v1/chat/completions",
        json=page_request(_PICTURE, **more),
        headers=_RAW if headers is None else headers,
        timeout=60,
        trust_env=False,
    )


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_request_and_answer_pass_byte_for_byte(start: Start) -> None:
    said = b'{"odd \\u00e9": 1,  "usage": {"prompt_tokens": 5, "completion_tokens": 7}}'
    seen: list[bytes] = []
    carried: list[Any] = []

    async def chat(request: web.Request) -> web.Response:
        seen.append(await request.read())
        carried.append(request.headers.copy())
        headers = {"X-Own": "kept", "Content-Type": "application/json"}
        return web.Response(body=said, headers=headers)

    body = json.dumps(page_request(_PICTURE, output_format="raw", seed=7), indent=1).encode()
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with model_server(chat) as server:
        served = _gateway(start, server.url, MOONPRESS_API_KEY="of-the-server")
        with httpx.Client(base_url=served.url, timeout=60, trust_env=False) as client:
            headers = {"content-type": "application/json", "traceparent": trace}
            answer = client.post("/v1/chat/completions", content=body, headers=headers)
            whole = client.post("/v1/chat/completions", content=body, headers={**headers, **_RAW})
            models = client.get("/v1/models").json()["data"]
            metrics = client.get("/metrics").text
    assert answer.content == whole.content == said
    assert answer.headers["x-own"] == "kept"
    assert answer.headers["x-request-id"]
    assert seen == [body.replace(b'"output_format": "raw",', b""), body]
    assert json.loads(seen[0]) == page_request(_PICTURE, seed=7)
    assert carried[0]["Authorization"] == "Bearer of-the-server"
    assert carried[0]["traceparent"].split("-")[1] == trace.split("-")[1]
    assert models == [
        {
            "id": "chandra", "object": "model", "created": 0, "owned_by": "moonpress",
            "moonpress_output": "raw", "root": "datalab-to/chandra-ocr-2", "max_model_len": 8192,
        }
    ]  # fmt: skip
    assert 'moonpress_pages_total{status="raw"} 2.0' in metrics
    assert "moonpress_output_tokens_total 14.0" in metrics
    assert 'moonpress_requests_total{route="/v1/chat/completions",status="200"} 2.0' in metrics


def test_a_stream_passes_as_it_comes(start: Start) -> None:
    go = threading.Event()

    async def chat(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(event(delta={"content": "first"}))
        assert await asyncio.to_thread(go.wait, 60)
        await response.write(b"data: [DONE]\n\n")
        return response

    with model_server(chat) as server:
        served = _gateway(start, server.url)
        url = f"{served.url}/v1/chat/completions"
        with (
            httpx.Client(timeout=60, trust_env=False) as client,
            client.stream("POST", url, json=page_request(_PICTURE), headers=_RAW) as answer,
        ):
            pieces = answer.iter_raw()
            got = next(pieces)
            assert got == event(delta={"content": "first"})
            go.set()
            got += b"".join(pieces)
        assert got.endswith(b"\n\ndata: [DONE]\n\n")
        assert (
            "moonpress_first_piece_seconds_count 1.0"
            in httpx.get(f"{served.url}/metrics", trust_env=False).text
        )


def test_another_replica_answers_for_one_that_dies_before_its_first_byte(start: Start) -> None:
    async def dying(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        assert request.transport is not None
        request.transport.abort()
        return response

    with model_server(dying) as bad, model_server(streaming(CLEAN)) as good:
        served = _gateway(start, bad.url, good.url)
        answers = [_post(served) for _ in range(4)]
        assert {answer.status_code for answer in answers} == {200}
        assert all(answer.content.endswith(b"data: [DONE]\n\n") for answer in answers)
        assert len(bad.requests) == 1
        assert len(good.requests) == 4


def test_what_is_broken_off_after_its_first_byte_ends_in_the_middle(start: Start) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(event(delta={"content": "first"}))
        await asyncio.sleep(0.2)
        assert request.transport is not None
        request.transport.abort()
        return response

    with model_server(cut) as server:
        served = _gateway(start, server.url)
        with pytest.raises(httpx.RemoteProtocolError):
            _post(served)


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (500, 2), (503, 3), (502, 3)])
def test_how_often_refusals_are_tried_elsewhere(start: Start, status: int, asked: int) -> None:
    said = {"error": {"message": "as the script says", "code": status}}
    refused = refusing(status, said, **{"Retry-After": "7"})
    with model_server(refused) as one, model_server(refused) as two, model_server(refused) as three:
        served = _gateway(start, one.url, two.url, three.url)
        answer = _post(served)
        assert answer.status_code == status
        assert answer.json() == said
        assert answer.headers["retry-after"] == "7"
        assert sum(len(server.requests) for server in (one, two, three)) == asked


def test_a_client_that_goes_away_closes_the_request(start: Start) -> None:
    arrived = threading.Event()

    async def chat(_request: web.Request) -> web.Response:
        arrived.set()
        await asyncio.sleep(3600)
        return web.Response()

    with model_server(chat) as server:
        served = _gateway(start, server.url)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(
                f"{served.url}/v1/chat/completions",
                json=page_request(_PICTURE),
                headers=_RAW,
                timeout=2,
                trust_env=False,
            )
        assert arrived.is_set()
        _until(lambda: server.dropped == 1)
        text = httpx.get(f"{served.url}/metrics", trust_env=False).text
        assert "moonpress_in_flight 0.0" in text


def test_keys_and_bounds_hold(start: Start) -> None:
    with model_server(streaming(CLEAN)) as server:
        served = start(
            "--engine", "vllm", "--url", server.url, "--max-body", "1",
            MOONPRESS_SERVE_KEYS="secret",
        )  # fmt: skip
        refused = _post(served)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "key-refused")
        key = {"Authorization": "Bearer secret"}
        assert _post(served, {**_RAW, **key}).status_code == 200
        assert _post(served, {**_RAW, **key}, padding="x" * (1 << 20)).status_code == 413
        assert "Bearer secret" not in str(server.headers)


def test_without_a_model_server_there_is_nothing_raw(service: Served) -> None:
    answer = _post(service)
    assert answer.status_code == 400
    assert "no model server" in answer.json()["error"]["message"]
    assert _post(service, {"X-Moonpress-Output": "layout"}).status_code == 200
    assert _post(service, {"X-Moonpress-Output": "poem"}).status_code == 400


@pytest.fixture
def chandra(tmp_path: Path) -> Chandra:
    plugins = tmp_path / "plugins"
    install_scripted_engine(plugins)
    work = tmp_path / "work"
    work.mkdir()
    return Chandra(work, clean_environment(plugins))


def test_chandra_pdf_reads_through_the_gateway_as_if_it_were_not_there(
    start: Start, chandra: Chandra
) -> None:
    """Guards, retries and probabilities are those of the client."""
    answers = [streaming(LOOPING), streaming(CLEAN)]

    async def chat(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)  # type: ignore[no-any-return]

    with model_server(chat) as server:
        served = _gateway(start, server.url)
        result = chandra(HELLO, "-f", "json", "-o", "-", "--url", f"{served.url}/v1")
    assert result.code == 0, result.err
    page = json.loads(result.out)["pages"][0]
    assert page["usage"]["attempts"] == 2
    assert page["blocks"][0]["confidence"] == pytest.approx(0.7788, abs=1e-3)
    assert [one["temperature"] for one in server.requests] == [0.0, 0.4]
    assert "output_format" not in server.requests[0]


def test_chandra_pdf_reads_through_a_gateway_without_models(
    service: Served, chandra: Chandra
) -> None:
    result = chandra(HELLO, "-o", "-", "--url", f"{service.url}/v1")
    assert result.code == 0, result.err
    assert result.out.decode() == "Page 1\n"


def test_a_thousand_at_once_are_all_answered(start: Start) -> None:
    """Each with a connection of its own; a short queue answers as well, with 429."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
    body = json.dumps(page_request(_PICTURE)).encode()
    with model_server(streaming(CLEAN)) as server:
        for queue, allowed in (("1000", {200}), ("50", {200, 429})):
            served = start("--engine", "vllm", "--url", server.url, "--max-queue", queue)
            port = int(served.url.rpartition(":")[2])
            answers = asyncio.run(all_at_once(Target("service", port, RAW), body, 1000))
            assert len(answers) == 1000
            assert {status for status, _ in answers} == allowed
