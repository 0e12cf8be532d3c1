"""Fetching over http and https with the standard library.

Owns requests, redirects, bounds of size and time, and what the answers mean. Never retries (see
`moonpress.sources.inputs.retrying`) and never puts an address into a message.
"""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import BinaryIO
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from moonpress.errors import InputError, InputMissing, InputUnreadable
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.retrying import Transient
from moonpress.sources.inputs.scratch import too_large, write_chunk

_CHUNK = 1 << 18
_AGENT = "moonpress"
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_SECRET = frozenset({401, 403, 407})
_GONE = frozenset({404, 410})
_CHECK_ADDRESS = "Check the address, and whether it needs a login"


def download(url: str, target: BinaryIO, bound: int, limits: Limits) -> None:
    """Fetch a file.

    Args:
        url: With http or https; may hold user and password.
        target: Written to from where it stands.
        bound: Bytes that it may have.
        limits: Bounds of time.

    Raises:
        Transient: another try may do it.
        InputMissing: the server has no such file.
        InputUnreadable: the server refuses, or there is no such server.
        InputTooLarge: it is over the bound.
        OutputError: writing to ``target`` failed.
    """
    with _answer(url, limits) as answer:
        length = answer.headers.get("Content-Length", "")
        expected = int(length) if length.isdecimal() else None
        if expected is not None and expected > bound:
            raise too_large(bound)
        received = 0
        began = time.monotonic()
        while chunk := answer.read1(_CHUNK):
            received += len(chunk)
            if received > bound:
                raise too_large(bound)
            write_chunk(target, chunk)
            seconds = time.monotonic() - began
            if seconds > limits.timeout and received < seconds * limits.slowest:
                raise Transient("the server sends too slowly")
        if expected is not None and received < expected:
            raise Transient(f"the connection broke after {received:,} of {expected:,} bytes")


def index_page(url: str, limits: Limits) -> tuple[str, bytes]:
    """A web server's page about a folder: its address after redirects, and its HTML.

    Raises:
        Transient: another try may do it.
        InputMissing: as `download`.
        InputUnreadable: as `download`, or it is no page.
        InputTooLarge: it is over the bound for such pages.
    """
    with _answer(url, limits) as answer:
        if answer.headers.get_content_type() not in {"text/html", "application/xhtml+xml"}:
            raise InputUnreadable(
                "the server has no list of files here", hint="Name a file, or a list of files"
            )
        page = answer.read(limits.index_bytes + 1)
        if len(page) > limits.index_bytes:
            raise too_large(limits.index_bytes)
        return answer.geturl(), page


@contextmanager
def _answer(url: str, limits: Limits) -> Iterator[http.client.HTTPResponse]:
    """The server's answer; what goes wrong until it is read to the end is translated."""
    try:
        with _opener().open(_request(url), timeout=limits.timeout) as answer:
            yield answer
    except HTTPError as error:
        error.close()
        raise _refusal(error) from None
    except URLError as error:
        raise _failure(error.reason) from None
    except (http.client.HTTPException, OSError, ValueError) as error:
        raise _failure(error) from None


@cache
def _opener() -> request.OpenerDirector:
    """Knows http and https only: a redirect to a file of this machine must not work.

    Made once, because reading the system's certificates takes 27 ms.
    """
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(context=context),
        request.HTTPDefaultErrorHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _request(url: str) -> request.Request:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    host = host if host.isascii() else host.encode("idna").decode()
    path, query = (quote(text, safe="%/:=&?~+!$,;'@()*") for text in (parts.path, parts.query))
    plain = urlunsplit((parts.scheme, host, path or "/", query, ""))
    made = request.Request(plain, headers={"User-Agent": _AGENT})  # noqa: S310 - see _opener
    if user:
        login = base64.b64encode(unquote(user).encode()).decode()
        # Not sent on when the server redirects elsewhere.
        made.add_unredirected_header("Authorization", f"Basic {login}")
    return made


def _refusal(error: HTTPError) -> InputError | Transient:
    status = error.code
    if status in _BUSY:
        after = error.headers.get("Retry-After", "")
        wait = float(after) if after.isdecimal() else None
        return Transient(f"the server answers with status {status}", wait=wait)
    if status in _GONE:
        return InputMissing(f"the server has no such file (status {status})")
    if status in _SECRET:
        return InputUnreadable(
            f"the server refuses to hand it over (status {status})", hint=_CHECK_ADDRESS
        )
    return InputUnreadable(f"the server answers with status {status}", hint=_CHECK_ADDRESS)


def _failure(reason: object) -> InputError | Transient:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return InputUnreadable(
            "the certificate of the server is not trusted", hint="Check the address"
        )
    if isinstance(reason, socket.gaierror) and reason.errno != socket.EAI_AGAIN:
        return InputUnreadable("there is no server of this name", hint="Check the address")
    if isinstance(reason, TimeoutError):
        return Transient("the server does not answer in time")
    if isinstance(reason, OSError):
        return Transient((reason.strerror or "the connection failed").lower())
    if isinstance(reason, http.client.IncompleteRead | http.client.RemoteDisconnected):
        return Transient("the connection broke")
    return InputUnreadable("this is no address that can be fetched", hint="Check the address")
