"""Jobs of a real service: read in their own time, kept over its death, cancelled, told of."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from tests.batch import scripted_engine
from tests.batch.command import labelled_pdf, wait_for
from tests.conftest import CHECKOUT
from tests.serving.conftest import Served, Start


@dataclass(slots=True)
class Office:
    """Services one after the other over one folder of jobs, and what their engine was asked for."""

    start: Start
    folder: Path
    plugins: Path
    served: Served | None = None

    @property
    def hold(self) -> Path:
        """While it holds words, pages with them are read for ever."""
        return self.folder / "hold"

    @property
    def down(self) -> Path:
        """While it exists, no engine answers."""
        return self.folder / "down"

    def open(self, *options: str, **env: str) -> Served:
        script = {
            "PYTHONPATH": os.pathsep.join((str(self.plugins), str(CHECKOUT))),
            "SCRIPT_LOG": str(self.folder / "log"),
            "SCRIPT_HOLD": str(self.hold),
            "SCRIPT_DOWN": str(self.down),
        }
        folder = str(self.folder / "jobs")
        more = ("--engine", "scripted-batch", "--workers", "2", "--jobs-dir", folder)
        self.served = self.start(*more, *options, **script, **env)
        return self.served

    def took(self) -> Counter[str]:
        """Pages by how often the engine was asked for them."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return Counter(line.split(" ", 2)[2] for line in lines if line.startswith("took"))


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_engine.install(tmp_path_factory.mktemp("scripted"))


@pytest.fixture
def office(start: Start, tmp_path: Path, plugins: Path) -> Iterator[Office]:
    made = Office(start, tmp_path, plugins)
    yield made
    if made.served is not None and made.served.process.poll() is None:
        made.served.stop(signal.SIGKILL)


@dataclass(slots=True)
class Client:
    """A client of the API; everything is checked but what a test asks for."""

    served: Served
    key: str = ""
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._http = httpx.Client(base_url=self.served.url, headers=headers, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def post(self, label: str, count: int, **fields: str) -> httpx.Response:
        files = {"file": (f"{label}.pdf", labelled_pdf(label, count), "application/pdf")}
        return self._http.post("/v1/jobs", files=files, data=fields)

    def add(self, label: str, count: int, **fields: str) -> str:
        answer = self.post(label, count, **fields)
        assert answer.status_code == 202, answer.text
        name: str = answer.json()["id"]
        assert answer.headers["Location"] == f"/v1/jobs/{name}"
        return name

    def get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(f"/v1/jobs{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def status(self, method: str, path: str) -> int:
        return self._http.request(method, f"/v1/jobs{path}").status_code

    def until(self, name: str, state: str) -> Any:
        wait_for(lambda: self.get(f"/{name}")["state"] == state)
        return self.get(f"/{name}")

    def events(self, name: str, last: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """All events until the stream ends."""
        headers = {} if last is None else {"Last-Event-ID": last}
        found, kind = [], ""
        with self._http.stream("GET", f"/v1/jobs/{name}/events", headers=headers) as answer:
            assert answer.status_code == 200
            for line in answer.iter_lines():
                if line.startswith("event:"):
                    kind = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    found.append((kind, json.loads(line.removeprefix("data:"))))
        return found


def _texts(label: str, pages: int) -> list[str]:
    return [f"{label} page {number}" for number in range(1, pages + 1)]


def test_a_document_is_read_in_its_own_time(office: Office) -> None:
    with Client(office.open()) as client:
        name = client.add("paper", 5, output_format="markdown", pages="1-4")
        done = client.until(name, "done")
        assert done["pages"] == {"selected": 4, "read": 4, "failed": 0}
        assert done["name"] == "paper.pdf"
        assert done["error"] is None
        assert done["created"] <= done["started"] <= done["ended"]
        whole = client.get(f"/{name}/result")
        assert whole["status"] == "ok"
        assert [text for text in _texts("paper", 4) if text in whole["content"]] == _texts(
            "paper", 4
        )
        as_json = client.get(f"/{name}/result", output_format="json")["content"]
        assert [page["number"] for page in as_json["pages"]] == [1, 2, 3, 4]
        rows = client.get(f"/{name}/pages")
        assert sorted(row["number"] for row in rows["data"]) == [1, 2, 3, 4]
        assert rows["next"] == 4
        assert client.get(f"/{name}/pages", after=4)["data"] == []
        assert [one["id"] for one in client.get("")["data"]] == [name]
    assert office.took() == Counter(_texts("paper", 4))


def test_pages_come_while_it_runs_and_events_tell(office: Office) -> None:
    with Client(office.open()) as client:
        office.hold.write_text("slow page 3")
        name = client.add("slow", 4)
        wait_for(lambda: client.get(f"/{name}")["pages"]["read"] == 3)
        assert client.get(f"/{name}")["state"] == "running"
        assert client.status("GET", f"/{name}/result") == 409
        assert sorted(r["number"] for r in client.get(f"/{name}/pages")["data"]) == [1, 2, 4]

        found: list[tuple[str, dict[str, Any]]] = []
        following = threading.Thread(target=lambda: found.extend(client.events(name)))
        following.start()
        office.hold.unlink()
        following.join(60)

        kinds = [kind for kind, _ in found]
        assert kinds == ["job", "page", "page", "page", "page", "job"]
        assert found[0][1]["state"] == "running"
        assert found[-1][1]["state"] == "done"
        assert sorted(body["number"] for kind, body in found if kind == "page") == [1, 2, 3, 4]
        # A stream that is taken up again leaves out what was told.
        assert [kind for kind, _ in client.events(name, "3")] == ["job", "page", "job"]


def test_a_cancelled_job_frees_the_engine_at_once(office: Office) -> None:
    with Client(office.open()) as client:
        office.hold.write_text("long page")
        name = client.add("long", 40)
        wait_for(lambda: len(office.took()) == 2)
        assert client.status("DELETE", f"/{name}") == 200
        began = time.monotonic()
        other = client.add("other", 1)
        client.until(other, "done")
        # A second for the engine to be free, and some for a busy machine.
        assert time.monotonic() - began < 15
        assert client.get(f"/{name}")["state"] == "cancelled"
        assert office.took().total() <= 3
        assert client.status("DELETE", f"/{name}") == 200
        assert client.status("GET", f"/{name}") == 404
        assert not (office.folder / "jobs" / name).exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_a_job_outlives_its_service(office: Office, number: int) -> None:
    office.hold.write_text("page 7")
    with Client(office.open()) as client:
        first, second = client.add("first", 8), client.add("second", 2)
        wait_for(lambda: client.get(f"/{first}")["pages"]["read"] == 7)
    assert office.served is not None
    if number == signal.SIGTERM:
        # What is in flight is finished, as long as that does not take for ever.
        threading.Timer(0.5, office.hold.unlink).start()
        assert office.served.stop(number) == 0
    else:
        office.served.stop(number)
        office.hold.unlink()

    with Client(office.open()) as client:
        assert client.until(first, "done")["pages"] == {"selected": 8, "read": 8, "failed": 0}
        content = client.get(f"/{first}/result", output_format="text")["content"]
        assert [text for text in _texts("first", 8) if text in content] == _texts("first", 8)
        client.until(second, "done")
    took = office.took()
    wanted = Counter(_texts("first", 8) + _texts("second", 2))
    assert set(took) == set(wanted)
    # Not more than what was in flight: two pages each of the two jobs at work.
    assert took.total() - wanted.total() <= (4 if number == signal.SIGKILL else 0)


def test_a_job_waits_for_an_engine_that_is_away(office: Office) -> None:
    with Client(office.open()) as client:
        office.down.touch()
        wait_for(lambda: httpx.get(f"{client.served.url}/ready").status_code == 503)
        name = client.add("patient", 2)
        time.sleep(0.5)
        assert client.get(f"/{name}")["state"] == "queued"
        office.down.unlink()
        assert client.until(name, "done")["pages"]["failed"] == 0


def test_what_cannot_be_read_has_failed_with_its_reason(office: Office) -> None:
    with Client(office.open()) as client:
        files = {"file": ("broken.pdf", b"%PDF-1.7 and no more", "application/pdf")}
        name = httpx.post(f"{client.served.url}/v1/jobs", files=files).json()["id"]
        failed = client.until(name, "failed")
        assert failed["error"]["code"] == "input-corrupt"
        assert "broken.pdf" in failed["error"]["message"]
        assert client.status("GET", f"/{name}/result") == 409
        name = client.add("few", 2, pages="7")
        assert client.until(name, "failed")["error"]["code"] == "page-range"


def test_jobs_belong_to_the_key_that_brought_them(office: Office, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("one-secret one\ntwo-secret two\n")
    served = office.open("--keys-file", str(keys))
    with Client(served, "one-secret") as one, Client(served, "two-secret") as two:
        name = one.add("mine", 1)
        one.until(name, "done")
        paths = ("", "/pages", "/result", "/events")
        assert [two.status("GET", f"/{name}{path}") for path in paths] == [404] * 4
        assert two.status("DELETE", f"/{name}") == 404
        assert two.get("")["data"] == []
        assert httpx.get(f"{served.url}/v1/jobs").status_code == 401


def test_too_many_jobs_are_sent_away_until_some_are_read(office: Office) -> None:
    with Client(office.open("--max-jobs", "2")) as client:
        office.hold.write_text("page 1")
        names = [client.add(f"job{number}", 1) for number in range(2)]
        wait_for(lambda: len(office.took()) == 2)
        names += [client.add(f"more{number}", 1) for number in range(2)]
        refused = client.post("late", 1)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
        office.hold.unlink()
        for name in names:
            client.until(name, "done")
        client.add("late", 1)


def test_jobs_expire(office: Office) -> None:
    with Client(office.open("--keep-jobs", "0.0003")) as client:
        name = client.add("short", 1)
        wait_for(lambda: client.status("GET", f"/{name}") == 404)
    assert not (office.folder / "jobs" / name).exists()


def test_a_second_service_on_the_same_jobs_is_refused(office: Office) -> None:
    office.open()
    with pytest.raises(pytest.fail.Exception, match="another service writes to it"):
        office.start("--jobs-dir", str(office.folder / "jobs"))


class _Receiver(BaseHTTPRequestHandler):
    """Refuses the first call and takes the second."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        calls: list[tuple[dict[str, str], bytes]] = self.server.calls  # type: ignore[attr-defined]
        calls.append((dict(self.headers.items()), body))
        self.send_response(204 if len(calls) > 1 else 500)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_client_is_told_once_its_job_has_ended(office: Office) -> None:
    with HTTPServer(("127.0.0.1", 0), _Receiver) as receiver:
        receiver.calls = []  # type: ignore[attr-defined]
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_port}/done"
        served = office.open("--webhook-host", "127.0.0.1", MOONPRESS_WEBHOOK_SECRET="s3cret")
        with Client(served) as client:
            name = client.add("told", 2, webhook=url)
            wait_for(lambda: client.get(f"/{name}")["webhook"]["state"] == "delivered")
            assert client.get(f"/{name}")["webhook"]["tries"] == 2
            refused = client.post("x", 1, webhook="http://example.org/")
            assert refused.status_code == 400
        receiver.shutdown()
        headers, body = receiver.calls[-1]  # type: ignore[attr-defined]
    told = json.loads(body)
    assert (told["id"], told["state"]) == (name, "done")
    assert told["pages"] == {"selected": 2, "read": 2, "failed": 0}
    assert "told page" not in body.decode()
    signed = f"{headers['X-Moonpress-Timestamp']}.".encode() + body
    digest = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert headers["X-Moonpress-Signature"] == f"sha256={digest}"


def test_a_webhook_leads_to_no_private_address(office: Office) -> None:
    with Client(office.open()) as client:
        for url in ("http://127.0.0.1/", "https://127.0.0.1/", "https://[::1]/", "ftp://a.b/"):
            answer = client.post("x", 1, webhook=url)
            assert answer.status_code == 400, url
            assert answer.json()["error"]["code"] == "usage"
        # A name that leads to one is found out when it is looked up.
        name = client.add("named", 1, webhook="https://localhost/")
        client.until(name, "done")
        wait_for(lambda: client.get(f"/{name}")["webhook"]["tries"] >= 1)
        assert client.get(f"/{name}")["webhook"]["state"] == "due"


def test_a_request_is_answered_while_a_long_job_runs(office: Office) -> None:
    with Client(office.open("--workers", "4")) as client:
        office.hold.write_text("endless page")
        client.add("endless", 30)
        wait_for(lambda: len(office.took()) == 3)
        files = {"file": ("quick.pdf", labelled_pdf("quick", 1), "application/pdf")}
        answer = httpx.post(f"{client.served.url}/v1/ocr", files=files, timeout=60)
        assert answer.status_code == 200
        assert "quick page 1" in answer.json()["content"]
        # Of four places jobs leave one.
        assert len([text for text in office.took() if "endless" in text]) == 3
