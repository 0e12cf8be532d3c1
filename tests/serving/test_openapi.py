"""The API as its own document describes it, and requests that nobody describes."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.batch.command import labelled_pdf
from tests.serving.conftest import Served, Start

_SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
_PDF = labelled_pdf("fuzzed", 2)


@pytest.fixture(scope="module")
def open_service(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """With bounds that tests can meet."""
    jobs = str(tmp_path_factory.mktemp("jobs"))
    bounds = ("--max-body", "1", "--max-pages", "5", "--max-jobs", "1000")
    return start("--workers", "4", "--jobs-dir", jobs, *bounds)


def test_every_answer_is_as_documented(open_service: Served, tmp_path: Path) -> None:
    command: list[str | Path] = [
        *(_SCHEMATHESIS, "run", f"{open_service.url}/openapi.json"),
        *("--checks", ",".join(_CHECKS), "--phases", "coverage,fuzzing"),
        *("--max-examples", "10", "--seed", "1", "--request-timeout", "60", "--no-color"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "13 selected / 13 total" in done.stdout


def _still_well(served: Served) -> None:
    files = {"file": ("paper.pdf", _PDF, "application/pdf")}
    assert httpx.post(f"{served.url}/v1/ocr", files=files, timeout=60).status_code == 200


_fuzz = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


@_fuzz
@given(
    cut=st.integers(0, len(_PDF)),
    flips=st.lists(st.tuples(st.integers(0, len(_PDF) - 1), st.integers(0, 255)), max_size=30),
)
def test_damaged_files_are_read_or_refused(
    open_service: Served, cut: int, flips: list[tuple[int, int]]
) -> None:
    data = bytearray(_PDF)
    for place, value in flips:
        data[place] = value
    files = {"file": ("x.pdf", bytes(data[:cut]), "application/pdf")}
    answer = httpx.post(f"{open_service.url}/v1/ocr", files=files, timeout=120)
    assert answer.status_code == 200 or 400 <= answer.status_code < 500, answer.text


@_fuzz
@given(
    path=st.sampled_from(("/v1/ocr", "/v1/chat/completions", "/v1/jobs")),
    kind=st.sampled_from(
        ("application/json", "multipart/form-data", "multipart/form-data; boundary=x", "text/x", "")
    ),
    body=st.one_of(
        st.binary(max_size=400),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=20)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=12), inner)
            ),
        ).map(lambda value: json.dumps(value).encode()),
        st.dictionaries(
            st.sampled_from(("messages", "file", "image_url", "pages", "dpi", "stream", "model")),
            st.one_of(st.text(max_size=20), st.integers(), st.lists(st.text(max_size=5))),
        ).map(lambda value: json.dumps(value).encode()),
        st.binary(max_size=100).map(
            lambda data: (
                b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
                + data
                + b"\r\n--x--\r\n"
            )
        ),
    ),
)
def test_no_body_is_a_fault_of_ours(
    open_service: Served, path: str, kind: str, body: bytes
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    answer = httpx.post(open_service.url + path, content=body, headers=headers, timeout=60)
    assert answer.status_code in {200, 202} or 400 <= answer.status_code < 500, answer.text


def _png_of(width: int, height: int) -> bytes:
    """A small file that claims to be a large picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1 << 20))
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_bombs_are_refused_and_the_service_goes_on(open_service: Served) -> None:
    bombs = {
        "bomb.png": _png_of(100_000, 100_000),
        "long.png": _png_of(1, 2_000_000_000),
        "large.pdf": _PDF.replace(b"612", b"9" * 9, 1),
        "nested.pdf": b"%PDF-1.7\n" + b"[" * 100_000,
        "zip.pdf": b"PK\x03\x04" + bytes(1000),
    }
    for name, data in bombs.items():
        answer = httpx.post(f"{open_service.url}/v1/ocr", files={"file": (name, data)}, timeout=120)
        assert answer.status_code == 200 or 400 <= answer.status_code < 500, (name, answer.text)
    large = httpx.post(f"{open_service.url}/v1/ocr", files={"file": ("x", bytes(2 << 20))})
    assert large.status_code == 413
    _still_well(open_service)


def _trickling(served: Served) -> socket.socket:
    """A client that has sent the beginning of its body, and then nothing."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(
        b"POST /v1/ocr HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000\r\n\r\n{"
    )
    return connection


def test_clients_that_send_nothing_more_are_given_up(start: Start, tmp_path: Path) -> None:
    slow = start("--upload-timeout", "1", "--jobs-dir", str(tmp_path / "jobs"))
    clients = [_trickling(slow) for _ in range(30)]
    # They are in nobody's way.
    _still_well(slow)
    began = time.monotonic()
    for client in clients:
        with client:
            assert client.recv(100).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began < 30
    _still_well(slow)


def test_pages_of_others_may_ask_when_allowed(start: Start, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret app\n")
    ours, theirs = "https://app.example.org", "https://other.example.org"
    served = start(
        "--cors-origin", ours, "--keys-file", str(keys), "--jobs-dir", str(tmp_path / "j")
    )
    asked = {"Access-Control-Request-Method": "POST", "Origin": ours}
    first = httpx.options(
        f"{served.url}/v1/ocr",
        headers={**asked, "Access-Control-Request-Headers": "authorization"},
    )
    assert first.status_code == 200
    assert first.headers["access-control-allow-origin"] == ours
    then = httpx.get(
        f"{served.url}/v1/models", headers={"Origin": ours, "Authorization": "Bearer secret"}
    )
    assert (then.status_code, then.headers["access-control-allow-origin"]) == (200, ours)
    refused = httpx.options(f"{served.url}/v1/ocr", headers={**asked, "Origin": theirs})
    assert "access-control-allow-origin" not in refused.headers


def test_pages_of_others_may_not_ask_by_default(open_service: Served) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": "https://app.example.org"}
    answer = httpx.options(f"{open_service.url}/v1/ocr", headers=asked)
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_page_for_people_can_do_nothing(open_service: Served) -> None:
    answer = httpx.get(f"{open_service.url}/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_every_route_below_v1_wants_a_key(start: Start, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret app\n")
    served = start("--keys-file", str(keys), "--jobs-dir", str(tmp_path / "jobs"))
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method in methods:
            answer = httpx.request(method, served.url + path.replace("{job_id}", "x"), timeout=30)
            wanted = 401 if path.startswith("/v1/") else 200
            assert answer.status_code == wanted, (method, path)


def test_no_word_of_a_document_and_no_key_is_in_the_log(start: Start, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("very-secret-key app\n")
    served = start("--keys-file", str(keys), "--json-logs", "--jobs-dir", str(tmp_path / "jobs"))
    files = {"file": ("name.pdf", labelled_pdf("xylophone", 1), "application/pdf")}
    headers = {"Authorization": "Bearer very-secret-key", "X-Request-Id": "my-own-id"}
    answer = httpx.post(f"{served.url}/v1/ocr", files=files, headers=headers, timeout=60)
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] == "my-own-id"
    told = httpx.get(f"{served.url}/metrics").text
    assert served.stop() == 0
    assert served.process.stderr is not None
    log = served.process.stderr.read()
    assert "my-own-id" in log
    for secret in ("xylophone", "very-secret-key"):
        assert secret not in log + told
