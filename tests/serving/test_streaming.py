"""Tests of streams that follow a model while it writes: a real service, OpenAI's own client."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest
from aiohttp import web

from moonpress.document import LayoutReply, PageReading
from moonpress.pipeline.layout_reply import with_blocks
from tests.engines.scripted import Handler, ScriptedServer, refusing, streaming
from tests.parsing.test_chandra_replies import FOLDER, NAMES, document
from tests.serving.conftest import Served, Start
from tests.serving.upstream import inked, model_server, page_request, stepwise

_PICTURE = inked()


def block(text: str, label: str = "Text") -> str:
    return f'<div data-bbox="10 20 300 400" data-label="{label}"><p>{text}</p></div>\n'


ONE = block("The keeper of the lighthouse had not seen a ship for forty days.")
TWO = block("Then the storm came up from the south, and with it the first sail.")
LOOP = '<div data-bbox="1 2 3 4" data-label="Text"><p>' + "and so on, " * 400


class Switch:
    """A model server whose script changes."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        handler = self.handlers.pop(0) if len(self.handlers) > 1 else self.handlers[0]
        return await handler(request)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def switch() -> Switch:
    return Switch()


@pytest.fixture(scope="module")
def upstream(switch: Switch) -> Iterator[ScriptedServer]:
    with model_server(switch) as server:
        yield server


@pytest.fixture(scope="module")
def gateway(start: Start, upstream: ScriptedServer) -> Served:
    return start("--engine", "vllm", "--url", upstream.url)


@pytest.fixture
def chat(gateway: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def streamed(chat: openai.OpenAI, **more: Any) -> Iterator[Any]:
    request = page_request(_PICTURE)
    return iter(
        chat.chat.completions.create(
            model="chandra", messages=request["messages"], stream=True, **more
        )
    )


def _metrics(gateway: Served) -> str:
    return httpx.get(f"{gateway.url}/metrics", timeout=60, trust_env=False).text


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def text_of(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def finish_of(chunks: list[Any]) -> str | None:
    reasons: list[str | None] = [
        chunk.choices[0].finish_reason for chunk in chunks if chunk.choices
    ]
    return reasons[-1]


def test_a_piece_comes_while_the_model_still_writes(switch: Switch, chat: openai.OpenAI) -> None:
    go = [threading.Event(), threading.Event()]
    switch.handlers = [stepwise([ONE, TWO], go)]
    chunks = streamed(chat, stream_options={"include_usage": True, "continuous_usage_stats": True})
    assert next(chunks).choices[0].delta.role == "assistant"
    go[0].set()
    first = next(chunks)
    assert first.choices[0].delta.content.startswith("The keeper of the lighthouse")
    assert first.usage.completion_tokens == 1
    go[1].set()
    rest = list(chunks)
    assert text_of(rest).startswith("\n\nThen the storm")
    assert finish_of(rest) == "stop"
    assert not rest[-1].choices
    assert (rest[-1].usage.prompt_tokens, rest[-1].usage.completion_tokens) == (900, 2)


def test_without_running_usage_only_the_last_chunk_has_it(
    switch: Switch, chat: openai.OpenAI
) -> None:
    switch.handlers = [streaming(ONE)]
    *chunks, last = streamed(chat, stream_options={"include_usage": True})
    assert all(chunk.usage is None for chunk in chunks)
    assert last.usage is not None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "boxes_of_version_1"])
def test_all_pieces_are_the_page(switch: Switch, chat: openai.OpenAI, name: str) -> None:
    """The recorded replies, whatever is wrong with them."""
    reply = (FOLDER / f"{name}.reply").read_bytes().decode()
    switch.handlers = [streaming(reply)]
    request = page_request(_PICTURE)
    whole = chat.chat.completions.create(model="chandra", messages=request["messages"])
    chunks = list(streamed(chat))
    assert text_of(chunks) == whole.choices[0].message.content
    assert finish_of(chunks) == whole.choices[0].finish_reason == "stop"
    assert text_of(chunks) == document(name).to_markdown()
    layout = list(streamed(chat, extra_body={"output_format": "layout"}))
    blocks = with_blocks(PageReading(layout=LayoutReply(text_of(layout), 1000.0)), 1).blocks
    assert [one.id for one in blocks] == [one.id for one in document(name).pages[0].blocks]


def test_a_try_that_loops_is_followed_by_one_that_goes_on(
    switch: Switch, chat: openai.OpenAI
) -> None:
    switch.handlers = [streaming(ONE + LOOP), streaming(ONE + TWO)]
    chunks = list(streamed(chat))
    text = text_of(chunks)
    assert text.count("The keeper") == 1
    assert text.endswith("the first sail.\n")
    assert finish_of(chunks) == "stop"


def test_a_page_whose_tries_differ_ends_early_and_says_so(
    switch: Switch, chat: openai.OpenAI
) -> None:
    other = streaming(block("Something else is read here, and nothing of a lighthouse."))
    switch.handlers = [streaming(ONE + LOOP), other]
    chunks = list(streamed(chat))
    assert "Something else" not in text_of(chunks)
    assert text_of(chunks).startswith("The keeper of the lighthouse")
    assert "was read in part only" in text_of(chunks)
    assert finish_of(chunks) == "length"


def test_a_client_that_leaves_a_stream_stops_the_model(
    switch: Switch, upstream: ScriptedServer, gateway: Served
) -> None:
    switch.handlers = [stepwise([ONE, TWO], [threading.Event(), threading.Event()])]
    before, asked = upstream.dropped, len(upstream.requests)
    with (
        httpx.Client(base_url=gateway.url, timeout=60, trust_env=False) as client,
        client.stream(
            "POST", "/v1/chat/completions", json=page_request(_PICTURE, stream=True)
        ) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines)
        _until(lambda: len(upstream.requests) > asked)
    _until(lambda: upstream.dropped == before + 1)
    _until(lambda: "moonpress_in_flight 0.0" in _metrics(gateway))


def test_a_page_that_fails_ends_with_an_error(switch: Switch, chat: openai.OpenAI) -> None:
    switch.handlers = [refusing(422, {"error": {"message": "no such picture"}})]
    chunks = streamed(chat)
    next(chunks)
    with pytest.raises(openai.APIError, match="could not be read"):
        list(chunks)


def test_documents_come_block_by_block_within_their_pages(switch: Switch, gateway: Served) -> None:
    go = [threading.Event(), threading.Event()]
    switch.handlers = [stepwise([ONE, TWO], go)]
    files = {"file": ("a.png", _PICTURE)}
    events: list[tuple[str, dict[str, Any]]] = []
    name = ""
    with (
        httpx.Client(base_url=gateway.url, timeout=60, trust_env=False) as client,
        client.stream("POST", "/v1/ocr", files=files, data={"stream": "true"}) as answer,
    ):
        go[0].set()
        for line in answer.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                events.append((name, json.loads(line.removeprefix("data:"))))
                go[1].set()
    assert [name for name, _ in events] == ["block", "block", "page", "document"]
    first = events[0][1]
    assert (first["page"], first["id"], first["kind"]) == (1, "p1-b1", "text")
    assert first["bbox"] == [0.01, 0.02, 0.3, 0.4]
    assert first["html"].startswith("<p>The keeper")
    assert "first sail" in events[2][1]["content"]
