"""What the page's scripts ask for, and what others may not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from moonpress.engines.registry import EngineOptions
from moonpress.errors import MoonpressError
from moonpress.ui.desk import Desk, open_desk
from moonpress.ui.routes import desk_routes, error_answer
from moonpress.ui.routes_runs import RunFiles
from moonpress.ui.runs import Runs
from moonpress.ui.settings import UiSettings
from tests.batch.command import labelled_pdf
from tests.ui.batch import finished_run

OURS = {"X-Moonpress": "1"}
HELLO = Path(__file__).resolve().parents[1] / "data" / "hello.pdf"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """The routes with a desk behind them, without Streamlit."""
    desks: list[Desk] = []
    settings = UiSettings("embedded", EngineOptions(workers=1), upload_mib=1, kept_papers=3)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> Any:
        async with open_desk(settings) as desk:
            desks.append(desk)
            yield

    app = Starlette(
        routes=list(desk_routes(lambda: desks[0])),
        exception_handlers={MoonpressError: error_answer},
        lifespan=lifespan,
    )
    with TestClient(app) as made:
        yield made


def drop(client: TestClient, data: bytes, name: str = "a.pdf") -> str:
    answer = client.post("/desk/papers", params={"name": name}, content=data, headers=OURS)
    assert answer.status_code == 200, answer.text
    return f"/desk/papers/{answer.json()['id']}"


def wait_for(client: TestClient, paper: str, good: Callable[[dict[str, Any]], bool]) -> Any:
    """The paper's state, as soon as it is as it should be."""
    deadline = time.monotonic() + 60
    state = client.get(f"{paper}/state").json()
    while not good(state):
        assert time.monotonic() < deadline, state
        query = {"after": state["revision"], "wait": 1000}
        state = client.get(f"{paper}/state", params=query).json()
    return state


@pytest.fixture(scope="module")
def paper(client: TestClient) -> str:
    """A document of one page that is read."""
    address = drop(client, HELLO.read_bytes(), "hello.pdf")
    client.post(f"{address}/read", json={"engine": "embedded", "pages": ""}, headers=OURS)
    state = wait_for(client, address, lambda state: state["stage"] != "running")
    assert (state["stage"], state["marks"], state["error"]) == ("done", "o", None)
    return address


def test_a_paper_is_opened_without_reading_it(client: TestClient) -> None:
    state = client.get(f"{drop(client, labelled_pdf('x', 3))}/state").json()
    assert (state["count"], state["stage"], state["marks"]) == (3, "new", "...")


def test_a_page_comes_as_markup_with_boxes(client: TestClient, paper: str) -> None:
    page = client.get(f"{paper}/pages/1").json()
    assert [block["kind"] for block in page["blocks"]] == ["heading", "text"]
    assert all(0 <= at <= 1 for block in page["blocks"] for at in block["box"])
    assert "Hello, page" in page["html"]


@pytest.mark.parametrize("width", ["small", "large"])
def test_pictures_are_drawn_on_request(client: TestClient, paper: str, width: str) -> None:
    answer = client.get(f"{paper}/pictures/1/{width}")
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content.startswith(b"\xff\xd8")
    assert client.get(f"{paper}/pictures/2/{width}").status_code == 400
    assert client.get(f"{paper}/pictures/1/huge").status_code == 404


def test_an_edit_is_in_every_format_until_it_is_taken_back(client: TestClient, paper: str) -> None:
    block = f"{paper}/blocks/p1-b2"
    before = client.get(block).json()["value"]
    assert client.post(block, json={"value": "<p>Mine &amp; yours</p>"}, headers=OURS).is_success
    for form in ("markdown", "html", "json", "text", "chunks"):
        text = client.get(f"{paper}/files/{form}").text
        assert "Mine" in text, form
    assert client.get(f"{paper}/pages/1").json()["blocks"][1]["edited"]
    client.post(block, json={"value": None}, headers=OURS)
    assert client.get(block).json()["value"] == before


def test_files_are_saved_and_never_shown_as_a_page(client: TestClient, paper: str) -> None:
    answer = client.get(f"{paper}/files/html")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''hello.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get(f"{paper}/files/zip").content.startswith(b"PK")
    assert client.get(f"{paper}/files/nonsense").status_code == 400


def test_a_reading_compared_with_itself_differs_nowhere(client: TestClient, paper: str) -> None:
    found = client.get(f"{paper}/differences/1", params={"left": "embedded", "right": "embedded"})
    assert found.json()["only_left"] == found.json()["only_right"] == 0
    assert found.json()["same"] > 5


def test_nothing_changes_without_the_header(client: TestClient, paper: str) -> None:
    for path in ("/desk/papers", f"{paper}/read", f"{paper}/cancel", f"{paper}/blocks/p1-b1"):
        assert client.post(path, content=b"{}").status_code == 400, path


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 422, "input-empty"),
        (b"%PDF-1.4 nothing", 422, "input-corrupt"),
        (b"no document", 415, "input-unsupported"),
        (b"x" * (1 << 20) + b"x", 413, "input-too-large"),
    ],
)
def test_bad_files_get_the_one_line(
    client: TestClient, data: bytes, status: int, code: str
) -> None:
    answer = client.post("/desk/papers?name=bad.pdf", content=data, headers=OURS)
    assert answer.status_code == status, answer.text
    line = answer.json()["error"]
    assert line.endswith(f"[{code}]")
    assert "\n" not in line


def test_bad_requests_get_a_line_too(client: TestClient, paper: str) -> None:
    asked = {"engine": "embedded", "pages": "7"}
    wrong = [
        client.get("/desk/papers/guess/state"),
        client.get(f"{paper}/pages/9"),
        client.get(f"{paper}/crops/0/../../document"),
        client.get(f"{paper}/crops/9/p1-b1"),
        client.get(f"{paper}/blocks/p9-b9"),
        client.post(f"{paper}/read", json=asked, headers=OURS),
        client.post(f"{paper}/read", content=b"[", headers=OURS),
        client.post(f"{paper}/read", content=b"[]", headers=OURS),
    ]
    assert all(400 <= answer.status_code < 500 for answer in wrong), wrong


def test_an_engine_that_nobody_knows_is_a_line_and_no_crash(client: TestClient) -> None:
    address = drop(client, HELLO.read_bytes())
    client.post(f"{address}/read", json={"engine": "magic", "pages": ""}, headers=OURS)
    state = wait_for(client, address, lambda state: state["stage"] != "running")
    assert state["stage"] == "failed"
    assert "no engine is called 'magic'" in state["error"]


def test_cancelling_ends_the_work_and_keeps_what_is_out(client: TestClient) -> None:
    address = drop(client, labelled_pdf("long", 150))
    client.post(f"{address}/read", json={"engine": "embedded", "pages": ""}, headers=OURS)
    wait_for(client, address, lambda state: state["done"] >= 1)
    client.post(f"{address}/cancel", json={}, headers=OURS)
    state = wait_for(client, address, lambda state: state["stage"] != "running")
    assert state["stage"] == "cancelled"
    assert 1 <= state["done"] < 150
    text = client.get(f"{address}/files/text").text
    assert f"long page {state['marks'].index('o') + 1}" in text


def test_the_paper_looked_at_longest_ago_makes_room(client: TestClient) -> None:
    first = drop(client, HELLO.read_bytes())
    for _ in range(3):
        drop(client, HELLO.read_bytes())
    answer = client.get(f"{first}/state")
    assert answer.status_code == 404
    assert "not open any more" in answer.json()["error"]


def test_files_of_runs_cannot_act_in_our_name(tmp_path: Path) -> None:
    runs = Runs([finished_run(tmp_path)])
    files = RunFiles(runs.now)
    app = Starlette(routes=[files.route()], exception_handlers={MoonpressError: error_answer})
    run = runs.now()[0]
    name = next(n for one in run.look().outputs for n in one.files if n.endswith(".html"))
    with TestClient(app) as client:
        good = files.address(run, name)
        answer = client.get(good)
        assert answer.status_code == 200
        assert "sandbox" in answer.headers["content-security-policy"]
        key = good.split("/")[3]
        for bad in (
            good.replace(key, "guess"),
            good.replace(run.id, "0" * 16),
            files.address(run, "../../secret"),
            files.address(run, ".moonpress/ledger.sqlite"),
        ):
            assert client.get(bad).status_code == 404, bad
