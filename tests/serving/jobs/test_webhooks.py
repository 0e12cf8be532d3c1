"""Clients are told of the end of their jobs, and cannot use that against the service."""

from __future__ import annotations

import hashlib
import hmac
import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path

import anyio
import pytest

from moonpress.serving.jobs.job import JobState, WebhookState
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.jobs.webhooks import Webhooks
from moonpress.serving.requests import JobRequest
from tests.batch.command import wait_for
from tests.serving.jobs.office import Client, Office


class _Receiver(HTTPServer):
    """Keeps what it is told, and answers with 500 as often as it is to."""

    def __init__(self, port: int = 0, *, refusals: int = 0) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.refusals = refusals
        super().__init__(("127.0.0.1", port), _Call)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/done"


class _Call(BaseHTTPRequestHandler):
    server: _Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((dict(self.headers.items()), body))
        self.send_response(500 if len(self.server.calls) <= self.server.refusals else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _receiving(receiver: _Receiver) -> Iterator[_Receiver]:
    with receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        try:
            yield receiver
        finally:
            receiver.shutdown()


def test_a_client_is_told_once_its_job_has_ended(office: Office) -> None:
    served = office.open("--webhook-host", "127.0.0.1", MOONPRESS_WEBHOOK_SECRET="s3cret")
    with _receiving(_Receiver(refusals=1)) as receiver, Client(served) as client:
        name = client.add("told", 2, webhook=receiver.url)
        wait_for(lambda: client.get(f"/{name}")["webhook"]["state"] == "delivered")
        assert client.get(f"/{name}")["webhook"]["tries"] == 2
        refused = client.post("x", 1, webhook="http://example.org/")
        assert refused.status_code == 400
        headers, body = receiver.calls[-1]
    told = json.loads(body)
    assert (told["id"], told["state"]) == (name, "done")
    assert told["result_url"] == f"/v1/jobs/{name}/result"
    assert told["pages"] == {"selected": 2, "read": 2, "failed": 0}
    assert "told page" not in body.decode()
    signed = f"{headers['X-Moonpress-Timestamp']}.".encode() + body
    digest = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert headers["X-Moonpress-Signature"] == f"sha256={digest}"


def test_a_client_is_told_after_a_restart(office: Office) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port: int = nobody.getsockname()[1]
        served = office.open("--webhook-host", "127.0.0.1")
        with Client(served) as client:
            name = client.add("later", 1, webhook=f"http://127.0.0.1:{port}/done")
            wait_for(lambda: client.get(f"/{name}")["webhook"]["tries"] >= 1)
            assert client.get(f"/{name}")["webhook"]["state"] == "due"
    served.stop(signal.SIGKILL)
    with (
        _receiving(_Receiver(port)) as receiver,
        Client(office.open("--webhook-host", "127.0.0.1")) as client,
    ):
        wait_for(lambda: client.get(f"/{name}")["webhook"]["state"] == "delivered")
        assert [json.loads(body)["id"] for _, body in receiver.calls] == [name]


def test_a_receiver_that_hangs_holds_up_its_own_key_alone(office: Office, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("one-secret one\ntwo-secret two\n")
    served = office.open("--webhook-host", "127.0.0.1", "--keys-file", str(keys))
    with (
        socket.create_server(("127.0.0.1", 0), backlog=64) as hanging,
        _receiving(_Receiver()) as receiver,
        Client(served, "one-secret") as one,
        Client(served, "two-secret") as two,
    ):
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}/"
        names = [one.add(f"stuck{number}", 1, webhook=url) for number in range(6)]
        for name in names:
            one.until(name, "done")
        told = two.add("free", 1, webhook=receiver.url)
        # Six tries one after the other would take a minute.
        wait_for(lambda: two.get(f"/{told}")["webhook"]["state"] == "delivered", seconds=30)


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


@pytest.mark.parametrize("url", ["https://a..b/", f"https://{'a' * 64}.example/", "https://.../"])
def test_an_address_that_libraries_choke_on_costs_a_try(tmp_path: Path, url: str) -> None:
    store = JobStore(tmp_path, most=1)
    job = store.add(JobRequest(webhook=url), BytesIO(b"a file"), "")
    store.end(job, JobState.CANCELLED)
    telling = Webhooks(store, hosts=(), secret=None)

    async def tell() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(telling.keep_telling)
            with anyio.fail_after(60):
                while not store.job(job.id, "").webhook_tries:  # noqa: ASYNC110 - it is on the disk
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()

    anyio.run(tell)
    assert store.job(job.id, "").webhook is WebhookState.DUE
    store.close()
