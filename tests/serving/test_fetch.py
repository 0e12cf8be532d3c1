"""Tests of `moonpress.serving.fetch` and what it stands on: nothing private is reached."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from moonpress.errors import InputTooLarge, InputUnreadable, UsageError
from moonpress.serving.fetch import Fetcher
from moonpress.serving.limits import ServiceLimits
from moonpress.serving.outbound import is_public

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class _Here(AbstractResolver):
    """Every name is this machine: for what happens after the checks."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        del port, family
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=self._port, family=socket.AF_INET,
                proto=0, flags=0,
            )
        ]  # fmt: skip

    async def close(self) -> None:
        return


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "http://169.254.169.254/secrets")
            self.end_headers()
        elif self.path == "/round":
            self.send_response(302)
            self.send_header("Location", "/round")
            self.end_headers()
        elif self.path == "/big":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 5000)
        elif self.path == "/a.png":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"picture")
        else:
            self.send_error(404)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


LIMITS = ServiceLimits(fetched_bytes=1000, plain_http=True, fetch_seconds=5)


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("192.168.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("::", False),
    ],
)
def test_public_addresses(host: str, public: bool) -> None:
    assert is_public(host) is public


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/a.png",
        "http://localhost/a.png",
        "http://0/a.png",
        "http://2130706433/a.png",
        "http://0x7f.1/a.png",
        "http://[::ffff:127.0.0.1]/a.png",
        "http://user:password@127.0.0.1/",
        "ftp://example.org/a.png",
        "file:///etc/passwd",
        "http:///nowhere",
        "gopher://example.org/",
        "",
        "not an address",
        "http://[broken",
    ],
)
async def test_what_is_not_public_is_not_fetched(url: str) -> None:
    with pytest.raises((UsageError, InputUnreadable)) as caught:
        await Fetcher(LIMITS).fetch(url)
    assert caught.value.http_status < 500
    assert "127.0.0.1" not in str(caught.value)


async def test_a_redirect_into_the_network_behind_us_is_not_followed(port: int) -> None:
    class _Once(_Here):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            assert host == "example.org"
            return await super().resolve(host, port, family)

    fetcher = Fetcher(ServiceLimits(plain_http=True, hosts=("example.org",)), _Once(port))
    with pytest.raises(UsageError, match="not among those allowed"):
        await fetcher.fetch(f"http://example.org:{port}/moved")


async def test_circles_end(port: int) -> None:
    with pytest.raises(InputUnreadable, match="redirects more than"):
        await Fetcher(LIMITS, _Here(port)).fetch(f"http://example.org:{port}/round")


async def test_what_is_there_is_fetched_and_bounded(port: int) -> None:
    fetcher = Fetcher(LIMITS, _Here(port))
    assert await fetcher.fetch(f"http://example.org:{port}/a.png") == b"picture"
    with pytest.raises(InputTooLarge):
        await fetcher.fetch(f"http://example.org:{port}/big")
    with pytest.raises(InputUnreadable, match="answers 404"):
        await fetcher.fetch(f"http://example.org:{port}/gone")


async def test_data_addresses() -> None:
    fetcher = Fetcher(LIMITS)
    assert await fetcher.fetch("data:image/png;base64,aGVsbG8=") == b"hello"
    assert await fetcher.fetch("data:,a%20b") == b"a b"
    with pytest.raises(UsageError):
        await fetcher.fetch("data:image/png;base64")
