"""The engine against a real vLLM: the model's words are noise, all else is as in production."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import numpy as np
import pytest

from moonpress import ChandraVLLMEngine
from moonpress.document import PageImage, PageReading, PageSize
from moonpress.engines.chandra.address import Address
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.model import ChandraModel, RequestChoices
from moonpress.engines.chandra.picture import ImageFormat
from moonpress.engines.guarded import Guarded, Guards
from moonpress.engines.layout_model import Ending, Sampling, Written
from moonpress.engines.pool import ReplicaPool
from moonpress.engines.retrying import Retrying, Waiting
from moonpress.errors import EngineRejected, EngineUnavailable, UnknownName
from tests.vllm.server import CONTEXT, KEY, Server

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

PATIENCE = Patience()


def page(number: int, width: int = 512, height: int = 640) -> PageImage:
    """Bars that differ from page to page."""
    draw = np.random.default_rng(number)
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    for top in range(40, height - 40, 30):
        pixels[top : top + 12, 40 : int(draw.integers(100, width - 20))] = draw.integers(0, 120)
    return PageImage(
        number=number, picture=pixels, size=PageSize(width * 0.375, height * 0.375, width, height)
    )


def model_of(
    server: Server, *, key: str | None = KEY, name: str | None = None, confidence: bool = True
) -> ChandraModel:
    client = ChatClient(Address(server.url, key), PATIENCE, connections=17)
    choices = RequestChoices(name, None, ImageFormat.PNG, confidence)
    return ChandraModel(client, choices, capacity=16, encoders=anyio.CapacityLimiter(2))


def with_model(model: ChandraModel, work: Callable[[ChandraModel], Awaitable[None]]) -> None:
    async def go() -> None:
        try:
            with anyio.fail_after(240):
                await work(model)
        finally:
            await model.aclose()

    anyio.run(go)


def test_a_page_streams_with_probabilities_and_usage(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        await model.prepare()
        assert model.scale == 1000.0
        pieces = [piece async for piece in model.write(page(1), Sampling())]
        *written, ending = pieces
        assert isinstance(ending, Ending)
        words = [piece for piece in written if isinstance(piece, Written)]
        assert len(words) > 10
        assert sum(piece.tokens for piece in words) == ending.output_tokens
        assert all(probability <= 0 for piece in words for probability in piece.logprobs)
        assert all(len(piece.logprobs) == piece.tokens for piece in words)
        text = "".join(piece.text for piece in words)
        assert "<|im_end|>" not in text
        # 512 x 640 pixels are 320 tokens; the rest is the prompt.
        assert ending.prompt_tokens is not None
        assert 320 < ending.prompt_tokens < CONTEXT

    with_model(model_of(vllm_server), work)


def test_probabilities_cost_nothing_when_not_asked_for(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        async for piece in model.write(page(1), Sampling()):
            assert not isinstance(piece, Written) or piece.logprobs == ()

    with_model(model_of(vllm_server, confidence=False), work)


def test_greedy_replies_repeat_and_warm_ones_differ(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        texts = []
        for temperature in (0.0, 0.0, 0.8):
            pieces = model.write(page(2), Sampling(temperature, 0.95))
            texts.append("".join([p.text async for p in pieces if isinstance(p, Written)]))
        assert texts[0] == texts[1]
        assert texts[0] != texts[2]

    with_model(model_of(vllm_server), work)


def test_sixteen_pages_at_once(vllm_server: Server) -> None:
    readings: dict[int, PageReading] = {}

    async def go() -> None:
        engine = ChandraVLLMEngine(vllm_server.url, api_key=KEY, page_timeout=240)
        await engine.prepare()

        async def read(number: int) -> None:
            readings[number] = await engine.read(page(number))

        async with aclosing(engine), anyio.create_task_group() as tasks:
            for number in range(1, 17):
                tasks.start_soon(read, number)

    anyio.run(go)
    assert sorted(readings) == list(range(1, 17))
    texts = {reading.layout.html for reading in readings.values() if reading.layout is not None}
    assert len(texts) == 16


def test_a_picture_beyond_the_context_fails_with_the_numbers(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        await model.prepare()
        with pytest.raises(EngineRejected) as caught:
            async for _ in model.write(page(3, 2048, 3072), Sampling()):
                pass
        assert "2048 x 3072 pixels takes 6144 tokens" in str(caught.value)
        assert f"a context of {CONTEXT}" in str(caught.value)

    with_model(model_of(vllm_server), work)


def test_the_servers_own_refusal_is_told(vllm_server: Server) -> None:
    """What the client could not foresee, such as a tokeniser that needs more than it thought."""

    async def go() -> None:
        client = ChatClient(Address(vllm_server.url, KEY), PATIENCE, connections=1)
        content = [{"role": "user", "content": "bridge " * 9000}]
        body = {"model": "chandra", "messages": content, "max_tokens": 5, "stream": True}
        try:
            with pytest.raises(EngineRejected, match=f"{CONTEXT}.*max-model-len"):
                async for _ in client.chat(json.dumps(body).encode()):
                    pass
        finally:
            await client.aclose()

    anyio.run(go)


def test_a_model_that_is_not_there(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        with pytest.raises(UnknownName, match="no model 'gpt': it has chandra"):
            await model.prepare()

    with_model(model_of(vllm_server, name="gpt"), work)


@pytest.mark.parametrize("key", [None, "wrong"])
def test_a_missing_or_wrong_key(vllm_server: Server, key: str | None) -> None:
    async def work(model: ChandraModel) -> None:
        with pytest.raises(EngineUnavailable, match="API key"):
            await model.prepare()

    with_model(model_of(vllm_server, key=key), work)


def test_giving_a_page_up_frees_the_server(vllm_server: Server) -> None:
    async def work(model: ChandraModel) -> None:
        pieces = model.write(page(5), Sampling())
        async for piece in pieces:
            if isinstance(piece, Written) and piece.text:
                break
        await pieces.aclose()
        await anyio.to_thread.run_sync(partial(vllm_server.wait_for_requests, some=False))

    with_model(model_of(vllm_server), work)


def test_the_command_reads_a_pdf(vllm_server: Server, checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "hello.json"
    command = [sys.executable, "-c", "from moonpress.cli.pdf import main; raise SystemExit(main())"]
    choices = ["--url", vllm_server.url, "--api-key", KEY, "-o", str(out)]
    done = subprocess.run(
        [*command, str(checkout / "tests/data/hello.pdf"), *choices],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    # Noise may well loop or be cut, which is 3.
    assert done.returncode in {0, 3}, done.stderr
    document = json.loads(out.read_text())
    assert document["metadata"]["engine"] == "vllm"
    assert document["pages"][0]["status"] in {"ok", "partial"}
    assert document["pages"][0]["size"]["dpi"] == pytest.approx(192, abs=1)
    assert document["pages"][0]["usage"]["prompt_tokens"] > 1000


def test_a_server_that_is_killed_and_comes_back_loses_no_page(vllm_server: Server) -> None:
    """Last, because the server starts anew."""

    def restart() -> None:
        vllm_server.kill()
        vllm_server.start()

    async def go() -> None:
        model = model_of(vllm_server)
        guards = Guards((Sampling(),), 280.0)
        guarded = Guarded(model, guards, preferred_dpi=192.0)
        engine = Retrying(ReplicaPool([guarded]), Waiting(outage=280.0, busy=60.0))
        readings: list[PageReading] = []

        async def read(number: int) -> None:
            readings.append(await engine.read(page(number)))

        async with aclosing(engine), anyio.create_task_group() as tasks:
            for number in range(1, 5):
                tasks.start_soon(read, number)
            await anyio.to_thread.run_sync(partial(vllm_server.wait_for_requests, some=True))
            await anyio.to_thread.run_sync(restart)
        assert len(readings) == 4

    anyio.run(go)
