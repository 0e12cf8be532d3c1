"""Tests of ``chandra-serve`` as clients meet it: a real server, real HTTP, OpenAI's own client."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest

from tests.cli.small_pdf import small_pdf
from tests.serving.conftest import Served, Start
from tests.sources.samples import png


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=60, trust_env=False) as client:
        yield client


_PICTURE = png((40, 60))


def _data_url(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@pytest.fixture
def chat(service: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="none") as client:
        yield client


def _page_message(url: str) -> list[Any]:
    image = {"type": "image_url", "image_url": {"url": url}}
    return [{"role": "user", "content": [{"type": "text", "text": "Read this"}, image]}]


def test_a_form_with_a_pdf_comes_back_as_markdown(client: httpx.Client) -> None:
    answer = client.post("/v1/ocr", files={"file": ("paper.pdf", small_pdf(3))})
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "ok"
    assert body["source"] == "paper.pdf"
    assert [page["number"] for page in body["pages"]] == [1, 2, 3]
    assert "Page 3" in body["content"]
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("form", ["markdown", "html", "json", "text", "chunks", "layout"])
def test_every_format(client: httpx.Client, form: str) -> None:
    fields = {"file": base64.b64encode(small_pdf(1)).decode(), "output_format": form}
    body = client.post("/v1/ocr", json=fields).json()
    assert body["format"] == form
    content = body["content"]
    assert "Page 1" in (content if isinstance(content, str) else json.dumps(content))
    if form == "layout":
        assert content.startswith('<div data-bbox="100 100 900 200" data-label="Text">')


def test_pages_are_selected(client: httpx.Client) -> None:
    files = {"file": ("a.pdf", small_pdf(4))}
    body = client.post("/v1/ocr", files=files, data={"pages": "2,-1"}).json()
    assert [page["number"] for page in body["pages"]] == [2, 4]


def test_a_stream_tells_of_each_page_and_then_of_the_document(client: httpx.Client) -> None:
    files = {"file": ("a.pdf", small_pdf(3))}
    events: list[tuple[str, dict[str, Any]]] = []
    name = ""
    with client.stream("POST", "/v1/ocr", files=files, data={"stream": "true"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                events.append((name, json.loads(line.removeprefix("data:"))))
    names = [name for name, _ in events]
    assert names == [*["block", "page"] * 3, "document"]
    assert sorted(body["number"] for name, body in events if name == "page") == [1, 2, 3]
    assert events[-1][1]["status"] == "ok"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "usage"),
        ({"file": "!!"}, 400, "usage"),
        ({"file": base64.b64encode(b"no document").decode()}, 415, "input-unsupported"),
        ({"file": base64.b64encode(small_pdf(2)).decode(), "pages": "9"}, 400, "page-range"),
        ({"file": base64.b64encode(small_pdf(6)).decode()}, 413, "input-too-large"),
        ({"image_url": "http://127.0.0.1/a.png"}, 400, "usage"),
        ({"image_url": "https://127.0.0.1/a.png"}, 400, "usage"),
        ({"image_url": "https://[::1]/a.png"}, 400, "usage"),
        ({"image_url": "https://localhost/a.png"}, 400, "usage"),
        ({"image_url": "file:///etc/passwd"}, 400, "usage"),
        ({"file": "", "surprise": 1}, 400, "usage"),
    ],
)
def test_bad_requests_get_one_line_and_a_code(
    client: httpx.Client, body: dict[str, Any], status: int, code: str
) -> None:
    answer = client.post("/v1/ocr", json=body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code
    assert "\n" not in error["message"]


def test_a_body_over_the_bound_is_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/ocr", content=b"x" * (2 << 20))
    assert answer.status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * (1 << 16)

    headers = {"content-type": "application/json"}
    assert client.post("/v1/ocr", content=pieces(), headers=headers).status_code == 413


def test_openais_client_reads_a_page(chat: openai.OpenAI) -> None:
    answer = chat.chat.completions.create(
        model="chandra", messages=_page_message(_data_url(_PICTURE))
    )
    assert answer.choices[0].message.content == "Page 1\n"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert [model.id for model in chat.models.list()] == ["fake"]


def test_openais_client_streams_with_usage(chat: openai.OpenAI) -> None:
    stream = chat.chat.completions.create(
        model="chandra",
        messages=_page_message(_data_url(_PICTURE)),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == "Page 1\n"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert not chunks[-1].choices


def test_a_chat_without_a_page_is_refused(chat: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="hold 0 pages"):
        chat.chat.completions.create(model="x", messages=[{"role": "user", "content": "hello"}])


def test_many_at_once_are_all_answered(client: httpx.Client) -> None:
    body = {"file": base64.b64encode(_PICTURE).decode()}
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(lambda _: client.post("/v1/ocr", json=body), range(60)))
    assert {answer.status_code for answer in answers} == {200}


def test_metrics_and_health(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "ok"
    text = client.get("/metrics").text
    assert 'moonpress_pages_total{status="ok"}' in text
    assert 'moonpress_requests_total{route="/v1/ocr",status="200"}' in text
    assert client.get("/").status_code == 200
    assert client.get("/openapi.json").status_code == 200


def test_a_key_is_wanted_where_there_are_keys(start: Start) -> None:
    served = start(MOONPRESS_SERVE_KEYS="secret-one team 2 600")
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        body = {"file": base64.b64encode(_PICTURE).decode()}
        assert client.get("/health").status_code == 200
        refused = client.post("/v1/ocr", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "key-refused")
        wrong = {"Authorization": "Bearer secret-two"}
        assert client.post("/v1/ocr", json=body, headers=wrong).status_code == 401
        right = {"Authorization": "Bearer secret-one"}
        assert client.post("/v1/ocr", json=body, headers=right).status_code == 200


def test_a_full_queue_says_when_to_come_back(start: Start) -> None:
    served = start("--workers", "1", "--max-queue", "1", SCRIPTED_DELAY="1.5")
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        body = {"file": base64.b64encode(_PICTURE).decode()}
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda _: client.post("/v1/ocr", json=body), range(8)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes.count(200) >= 2
    assert codes.count(429) >= 1
    assert set(codes) == {200, 429}
    full = next(answer for answer in answers if answer.status_code == 429)
    assert int(full.headers["retry-after"]) >= 1


def test_a_client_that_goes_away_frees_the_engine(start: Start) -> None:
    served = start("--workers", "1", SCRIPTED_DELAY="30")
    body = {"file": base64.b64encode(_PICTURE).decode()}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{served.url}/v1/ocr", json=body, timeout=1.5, trust_env=False)
    for _ in range(50):
        text = httpx.get(f"{served.url}/metrics", trust_env=False).text
        if "moonpress_in_flight 0.0" in text:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the engine is still at work for a client that has gone")


def test_sigterm_finishes_what_is_under_way_and_ends_with_0(start: Start) -> None:
    served = start("--workers", "1", SCRIPTED_DELAY="2")
    body = {"file": base64.b64encode(_PICTURE).decode()}
    answers: list[httpx.Response] = []

    def ask() -> None:
        answer = httpx.post(f"{served.url}/v1/ocr", json=body, timeout=60, trust_env=False)
        answers.append(answer)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(1.0)
    assert served.stop() == 0
    thread.join()
    assert [answer.status_code for answer in answers] == [200]
