"""Raw chats through a real ``chandra-serve`` to a real vLLM: as if the service were not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest

from moonpress.document import PageImage
from moonpress.engines.chandra.address import Address
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.model import ChandraModel, RequestChoices
from moonpress.engines.chandra.picture import ImageFormat
from moonpress.engines.layout_model import Ending, Sampling
from tests.serving.conftest import Served, Start, start
from tests.serving.upstream import inked, page_request
from tests.vllm.server import CONTEXT, KEY, Server
from tests.vllm.test_vllm import page

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

__all__ = ["start"]


@pytest.fixture(scope="module")
def gateway(start: Start, vllm_server: Server) -> Served:
    return start("--engine", "vllm", "--url", vllm_server.url, MOONPRESS_API_KEY=KEY)


@pytest.fixture
def client(gateway: Served) -> Iterator[httpx.Client]:
    headers = {"X-Moonpress-Output": "raw"}
    with httpx.Client(
        base_url=gateway.url, headers=headers, timeout=120, trust_env=False
    ) as client:
        yield client


def _request(**more: Any) -> dict[str, Any]:
    return page_request(inked(), max_tokens=24, temperature=0, **more)


def test_the_answer_is_vllms_own(client: httpx.Client, vllm_server: Server) -> None:
    through = client.post("/v1/chat/completions", json=_request()).json()
    key = {"Authorization": f"Bearer {KEY}"}
    url = f"{vllm_server.url}/chat/completions"
    direct = httpx.post(url, json=_request(), headers=key, timeout=120, trust_env=False).json()
    for answer in (through, direct):
        del answer["id"], answer["created"]
    assert through == direct


def test_what_is_wrong_with_a_request_is_said_by_vllm(client: httpx.Client) -> None:
    answer = client.post("/v1/chat/completions", json=_request(max_completion_tokens=-1))
    assert answer.status_code == 400
    broken = _request()
    broken["messages"][0]["content"][0]["image_url"]["url"] = "data:image/png;base64,AAAA"
    assert 400 <= client.post("/v1/chat/completions", json=broken).status_code <= 500
    assert client.post("/v1/chat/completions", json=_request(model="other")).status_code == 404
    assert client.post("/v1/chat/completions", json=_request()).status_code == 200


def test_models_are_vllms_and_say_how_to_ask(client: httpx.Client) -> None:
    (model,) = client.get("/v1/models").json()["data"]
    assert (model["id"], model["owned_by"], model["moonpress_output"]) == (
        "chandra", "moonpress", "raw",
    )  # fmt: skip
    assert model["max_model_len"] == CONTEXT


def test_a_client_that_leaves_stops_vllm(client: httpx.Client, vllm_server: Server) -> None:
    request = page_request(inked(), max_tokens=4000, temperature=0, ignore_eos=True, stream=True)
    with client.stream("POST", "/v1/chat/completions", json=request) as answer:
        pieces = answer.iter_raw()
        assert next(pieces).startswith(b"data: ")
        vllm_server.wait_for_requests(some=True)
    vllm_server.wait_for_requests(some=False)


async def _written(address: Address, image: PageImage) -> tuple[str, list[float], Ending]:
    text = ""
    logprobs: list[float] = []
    ending: Ending | None = None
    client = ChatClient(address, Patience(), connections=4)
    choices = RequestChoices(None, None, ImageFormat.PNG, confidence=True)
    model = ChandraModel(client, choices, capacity=2, encoders=anyio.CapacityLimiter(1))
    try:
        await model.prepare()
        with anyio.fail_after(240):
            async for piece in model.write(image, Sampling()):
                if isinstance(piece, Ending):
                    ending = piece
                    break
                text += piece.text
                logprobs += piece.logprobs
                if len(logprobs) >= 40:
                    break
    finally:
        await model.aclose()
    return text, logprobs, ending or Ending(complete=False)


def test_the_engine_gets_the_same_through_the_gateway(gateway: Served, vllm_server: Server) -> None:
    direct = anyio.run(_written, Address(vllm_server.url, KEY), page(3))
    through = anyio.run(_written, Address(f"{gateway.url}/v1"), page(3))
    assert through[0] == direct[0]
    assert through[1] == pytest.approx(direct[1], abs=1e-3)
    assert len(through[1]) >= 40
