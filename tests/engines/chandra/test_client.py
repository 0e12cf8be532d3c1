"""The engine against a server that does what healthy ones do not."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from aiohttp import web

from moonpress.document import PageReading, PageStatus
from moonpress.engines.chandra.address import Address, base_of, header_of
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.engines.chandra.events import EventSplitter, parse_event
from moonpress.engines.chandra.model import ChandraModel, RequestChoices
from moonpress.engines.chandra.picture import ImageFormat
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.errors import (
    BadOutput,
    EngineBusy,
    EngineError,
    EngineRejected,
    EngineUnavailable,
    UnknownName,
    UsageError,
)
from tests.engines.scripted import (
    CLEAN,
    LOOPING,
    ScriptedServer,
    event,
    hanging,
    page,
    refusing,
    running,
    streaming,
)

QUICK = Patience(connect=1.0, answer=1.0, silence=1.0)


def model_of(server: ScriptedServer, **choices: Any) -> ChandraModel:
    address = Address(server.url, choices.pop("api_key", None), headers=(("X-Team", "papers"),))
    client = ChatClient(address, QUICK, connections=8)
    chosen = {"model": None, "version": None, "image_format": ImageFormat.PNG, "confidence": True}
    return ChandraModel(
        client,
        RequestChoices(**{**chosen, **choices}),
        capacity=4,
        encoders=anyio.CapacityLimiter(1),
    )


async def write(model: ChandraModel) -> list[Written | Ending]:
    return [piece async for piece in model.write(page(), Sampling())]


def with_server(
    server: ScriptedServer, work: Callable[[ChandraModel], Awaitable[None]], **choices: Any
) -> None:
    async def go() -> None:
        async with running(server):
            model = model_of(server, **choices)
            try:
                await work(model)
            finally:
                await model.aclose()

    anyio.run(go)


def error_of(server: ScriptedServer, **choices: Any) -> EngineError:
    """What one try at a page raises."""
    caught: list[EngineError] = []

    async def work(model: ChandraModel) -> None:
        with pytest.raises((EngineError, UsageError)) as error:
            await write(model)
        caught.append(error.value)  # type: ignore[arg-type]

    with_server(server, work, **choices)
    return caught[0]


def test_a_reply_arrives_with_its_probabilities_and_usage() -> None:
    async def work(model: ChandraModel) -> None:
        pieces = await write(model)
        assert "".join(p.text for p in pieces if isinstance(p, Written)) == CLEAN
        assert pieces[0] == Written(CLEAN[:6], 1, (6,), (-0.25,))
        ending = pieces[-1]
        assert isinstance(ending, Ending)
        assert replace(ending, sending_seconds=None) == Ending(True, 900, len(CLEAN) // 6)
        if sys.platform == "linux":
            assert ending.sending_seconds is not None
            assert 0 <= ending.sending_seconds < 30

    server = ScriptedServer()
    with_server(server, work, api_key="secret")
    assert server.headers[-1]["Authorization"] == "Bearer secret"
    assert server.headers[-1]["X-Team"] == "papers"
    request = server.requests[0]
    assert request["model"] == "chandra"
    assert request["temperature"] == 0.0
    assert request["stop"] == ["<|im_end|>", "<|endoftext|>"]
    assert request["logprobs"] is True
    # 640 x 480 pixels are 300 tokens; the rest of 8,192 is for prompt and reply.
    assert 6000 < request["max_tokens"] < 8192 - 300
    picture, prompt = request["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert "data-bbox" in prompt["text"]


def test_probabilities_can_be_left_out() -> None:
    server = ScriptedServer()

    async def work(model: ChandraModel) -> None:
        await write(model)

    with_server(server, work, confidence=False)
    assert "logprobs" not in server.requests[0]


REFUSALS: list[tuple[str, Any, type[EngineError], str]] = [
    ("bad request", refusing(400, {"error": {"message": "no picture"}}), EngineRejected, "no pict"),
    (
        "context",
        refusing(400, {"message": "maximum context length is 4096 tokens"}),
        EngineRejected,
        "4096 tokens.*max-model-len",
    ),
    ("no key", refusing(401, {"error": "Unauthorized"}), EngineUnavailable, "API key"),
    ("full", refusing(503, {"error": "queue full"}), EngineBusy, "queue full"),
    ("rate", refusing(429, {"detail": "slow down"}), EngineBusy, "slow down"),
    ("proxy", refusing(502, "<title>502 Bad Gateway</title>"), EngineUnavailable, "Bad Gateway"),
    ("login page", refusing(200, "<title>Sign in</title>"), EngineUnavailable, "Sign in"),
    ("cut", streaming(CLEAN, finish=None), EngineUnavailable, "in the middle"),
    (
        "done too early",
        streaming(CLEAN, finish=None, tail=b"data: [DONE]\n\n"),
        EngineUnavailable,
        "in the middle",
    ),
    (
        "nonsense",
        streaming("", finish=None, tail=b"data: {oops\n\n"),
        EngineUnavailable,
        "no chat API",
    ),
    (
        "client's fault in the stream",
        streaming(CLEAN, finish=None, tail=b'data: {"error": {"message": "bad", "code": 400}}\n\n'),
        EngineRejected,
        "bad",
    ),
    ("silence", hanging, EngineUnavailable, "no answer in time"),
]


@pytest.mark.parametrize(
    ("answer", "kind", "words"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_refusals_become_the_right_error(answer: Any, kind: type[EngineError], words: str) -> None:
    error = error_of(ScriptedServer(chat=answer))
    assert type(error) is kind
    assert re.search(words, str(error)), str(error)
    assert "\n" not in str(error)


def test_a_busy_server_says_when() -> None:
    answer = refusing(503, {"error": "full"}, **{"Retry-After": "7"})
    error = error_of(ScriptedServer(chat=answer))
    assert isinstance(error, EngineBusy)
    assert error.retry_after == 7.0


def test_status_500_of_a_well_server_is_the_pages_fault_and_of_an_ill_one_is_not() -> None:
    answer = refusing(500, {"error": {"message": "decompression bomb"}})
    assert type(error_of(ScriptedServer(chat=answer))) is BadOutput
    assert type(error_of(ScriptedServer(chat=answer, healthy=False))) is EngineUnavailable


def test_an_error_in_the_stream_is_judged_by_the_servers_health() -> None:
    tail = b'data: {"error": {"message": "EngineCore died", "code": 500}}\n\ndata: [DONE]\n\n'
    answer = streaming(CLEAN, finish=None, tail=tail)
    assert type(error_of(ScriptedServer(chat=answer))) is BadOutput
    assert type(error_of(ScriptedServer(chat=answer, healthy=False))) is EngineUnavailable


MODELS: list[tuple[Any, type[Exception], str]] = [
    (refusing(404, "<title>Not here</title>"), EngineUnavailable, "web page .Not here"),
    (refusing(404, {"detail": "Not Found"}), EngineUnavailable, "nothing at /models"),
    (refusing(200, "<html>hello</html>"), EngineUnavailable, "web page"),
    (refusing(200, {"hello": 1}), EngineUnavailable, "no OpenAI API"),
    (refusing(401, {"error": "Unauthorized"}), EngineUnavailable, "MOONPRESS_API_KEY"),
    (refusing(200, {"data": []}), EngineUnavailable, "serves no model"),
    (hanging, EngineUnavailable, "no answer in time"),
    (
        refusing(200, {"data": [{"id": "a"}, {"id": "b"}]}),
        UnknownName,
        "several models: a, b.*--model",
    ),
]


@pytest.mark.parametrize(("answer", "kind", "words"), MODELS)
def test_what_is_no_server_is_named_at_once(answer: Any, kind: type[Exception], words: str) -> None:
    began = time.perf_counter()
    error = error_of(ScriptedServer(models=answer))
    assert type(error) is kind
    assert re.search(words, str(error)), str(error)
    assert "http://127.0.0.1:" in str(error)
    assert time.perf_counter() - began < 5


def test_a_model_that_the_server_lacks_is_answered_with_those_it_has() -> None:
    error = error_of(ScriptedServer(), model="gpt")
    assert "has no model 'gpt': it has chandra" in str(error)


def test_a_small_context_is_told_in_numbers() -> None:
    small = {"data": [{"id": "chandra", "max_model_len": 512}]}
    error = error_of(ScriptedServer(models=refusing(200, small)))
    assert type(error) is EngineRejected
    assert "480 x 640 pixels takes 300 tokens" in str(error)
    assert "context of 512" in str(error)
    assert error.page == 1


@pytest.mark.parametrize(
    ("entry", "scale"),
    [
        ({"id": "chandra", "root": "datalab-to/chandra-ocr-2"}, 1000),
        ({"id": "chandra", "root": "/models/x"}, 1000),
        ({"id": "chandra"}, 1000),
        ({"id": "chandra", "root": "datalab-to/chandra"}, 1024),
        ({"id": "datalab-to/chandra"}, 1024),
        ({"id": "ocr", "root": "/c/models--datalab-to--chandra/snapshots/0a"}, 1024),
        ({"id": "chandra-v1"}, 1024),
    ],
)
def test_the_scale_of_boxes_follows_the_models_version(entry: dict[str, str], scale: float) -> None:
    async def work(model: ChandraModel) -> None:
        await model.prepare()
        assert model.scale == scale

    with_server(ScriptedServer(models=refusing(200, {"data": [entry]})), work)


def test_the_version_can_be_told() -> None:
    async def work(model: ChandraModel) -> None:
        await model.prepare()
        assert model.scale == 1024

    with_server(ScriptedServer(), work, version=1)


def test_a_loop_drops_the_connection_within_200_tokens() -> None:
    """The server writes on and on; that it is no longer listened to must reach it."""

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(event(delta={"content": CLEAN}))
        sent = 0
        try:
            while sent < 5000:
                await response.write(event(delta={"content": " and so on"}))
                sent += 1
                await anyio.sleep(0.001)
        finally:
            tokens.append(sent)
        return response

    tokens: list[int] = []
    answers = [endless, streaming(CLEAN)]

    async def chat(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)  # type: ignore[no-any-return]

    async def work(model: ChandraModel) -> None:
        guards = Guards((Sampling(), Sampling(0.4, 0.95)), 30.0)
        reading: PageReading = await Guarded(model, guards, preferred_dpi=192.0).read(page())
        assert reading.status is PageStatus.OK
        assert reading.usage.attempts == 2

    server = ScriptedServer(chat=chat)
    with_server(server, work)
    assert len(tokens) == 1
    # Some more lie in the buffers of the network.
    assert tokens[0] < 400
    assert [request["temperature"] for request in server.requests] == [0.0, 0.4]


def test_cancelling_a_page_reaches_the_server() -> None:
    async def work(model: ChandraModel) -> None:
        with anyio.move_on_after(0.3):
            await write(model)
        await anyio.sleep(0.3)

    server = ScriptedServer(chat=hanging)
    with_server(server, work)
    assert server.dropped == 1


def test_the_engine_goes_on_with_the_server_that_is_left() -> None:
    async def go() -> None:
        good = ScriptedServer(chat=streaming(LOOPING[: len(CLEAN)]))
        async with running(good):
            engine = ChandraVLLMEngine(["http://127.0.0.1:9", good.url], page_timeout=30)
            await engine.prepare()
            for number in range(1, 5):
                reading = await engine.read(page(number))
                assert reading.status is PageStatus.OK
            await engine.aclose()
        assert len(good.requests) == 4

    anyio.run(go)


def test_no_server_is_one_line() -> None:
    async def go() -> None:
        engine = ChandraVLLMEngine("127.0.0.1:9")
        with pytest.raises(EngineUnavailable) as caught:
            await engine.prepare()
        await engine.aclose()
        assert "http://127.0.0.1:9/v1 cannot be used: connection refused" in str(caught.value)

    anyio.run(go)


@pytest.mark.parametrize("bad", ["", "ftp://host", "http://", "http://a b", "http://host:port"])
def test_addresses_that_are_none(bad: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        base_of(bad)


@pytest.mark.parametrize("bad", ["X-Team", "X Team: a", ": a", "X-Team: a\r\nHost: b"])
def test_headers_that_are_none(bad: str) -> None:
    with pytest.raises(UsageError, match="Name: value"):
        header_of(bad)


@pytest.mark.parametrize(
    "arguments", [{"version": 3}, {"image_format": "gif"}, {"headers": ["x"]}, {"url": []}]
)
def test_choices_that_make_no_sense(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ChandraVLLMEngine(**arguments)


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_events_are_found_however_the_network_cuts_them(size: int) -> None:
    body = b': hello\r\ndata: {"a": 1}\r\n\r\ndata:{"b": "\xc3\xa4"}\n\ndata: [DONE]\n\n'
    splitter = EventSplitter()
    found: list[bytes] = []
    for start in range(0, len(body), size):
        found += splitter.feed(body[start : start + size])
    assert found == [b'{"a": 1}', b'{"b": "\xc3\xa4"}', b"[DONE]"]


def test_a_server_that_has_just_streamed_is_given_more_time_to_answer() -> None:
    """It has its hands full: that is no reason to take its pages away."""
    server = ScriptedServer()

    async def slow(_request: web.Request) -> web.Response:
        await anyio.sleep(0.6)
        return web.json_response({"data": [{"id": "chandra"}]})

    async def go() -> None:
        async with running(server):
            patience = Patience(connect=0.2, answer=0.2, alive=10.0, silence=5.0)
            client = ChatClient(Address(server.url, None), patience, connections=2)
            server.models = slow
            try:
                with pytest.raises(EngineUnavailable, match="no answer in time"):
                    await client.models()
                async for _ in client.chat(b"{}"):
                    pass
                assert [model.name for model in await client.models()] == ["chandra"]
            finally:
                await client.aclose()

    anyio.run(go)


def test_several_tokens_in_one_event_share_its_text() -> None:
    scores = {"content": [{"token": t, "logprob": -1.0} for t in ("ab", "c", "de")]}
    data = event(delta={"content": "abcde"}, logprobs=scores)[6:].strip()
    written = parse_event(data).written
    assert written is not None
    assert written.ends == (2, 3, 5)
