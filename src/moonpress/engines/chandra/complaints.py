"""What a server's refusals mean, in the words of the error tree.

Owns the translation of HTTP statuses, bodies and network errors. Never connects and never retries.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from html import unescape

import aiohttp
import orjson

from moonpress.errors import (
    BadOutput,
    EngineBusy,
    EngineError,
    EngineRejected,
    EngineUnavailable,
)

_WORDS_AT_MOST = 300
_LONGEST_WAIT = 120.0
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_CAUSES: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    (
        (aiohttp.ClientConnectorCertificateError,),
        "its certificate is not trusted here (--ca-file names the authority)",
    ),
    (
        (aiohttp.ClientSSLError, ssl.SSLError),
        "it speaks no TLS that this machine understands (http:// instead of https://?)",
    ),
    ((TimeoutError,), "no answer in time"),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), "its name is unknown"),
    ((aiohttp.ServerDisconnectedError,), "it closed the connection"),
    ((aiohttp.ClientPayloadError,), "its answer was cut short"),
)
_START_HINT = "Start a server there, give another --url, or read with --engine embedded"
_CONTEXT = re.compile(r"context|max_model_len|maximum model length|too long", re.IGNORECASE)


def unreachable(base: str, error: BaseException) -> EngineUnavailable:
    """A connection that did not come about, or broke."""
    return EngineUnavailable(f"{base} cannot be used: {_network_cause(error)}", hint=_START_HINT)


def broken_off(base: str, error: BaseException) -> EngineUnavailable:
    """A connection that broke while a page was being read."""
    cause = _network_cause(error)
    return EngineUnavailable(f"{base} broke off while it read the page: {cause}", hint="")


def _network_cause(error: BaseException) -> str:
    for kinds, words in _CAUSES:
        if isinstance(error, kinds):
            return words
    if isinstance(error, aiohttp.ClientConnectorError) and error.os_error.errno:
        return os.strerror(error.os_error.errno).lower()
    return str(error) or type(error).__name__


def no_api(base: str, status: int, content_type: str, body: bytes) -> EngineError:
    """Something answered at the address of the models and it is not what is wanted."""
    if status in {401, 403}:
        return key_refused(base)
    kind = content_type.partition(";")[0].strip()
    if "html" in kind:
        what = f"a web page ({_title(body) or kind}, status {status})"
    elif status == 404:
        what = "that there is nothing at /models (status 404)"
    else:
        what = f"status {status}: {words_of(body) or kind or 'nothing'}"
    message = f"{base} is no OpenAI API: it answers {what}"
    return EngineUnavailable(message, hint="The address usually ends with /v1")


def key_refused(base: str) -> EngineUnavailable:
    """Status 401 or 403."""
    message = f"{base} refuses the API key, or wants one and was given none"
    return EngineUnavailable(message, hint="Give the right one as MOONPRESS_API_KEY or --api-key")


def refusal(
    base: str, status: int, content_type: str, body: bytes, retry_after: str | None
) -> EngineError:
    """A page that was refused with a status other than 200; 404 is for callers."""
    words = words_of(body)
    if status in {401, 403}:
        return key_refused(base)
    if status in {429, 503}:
        wait = _seconds(retry_after)
        return EngineBusy(f"{base} has too much to do: {words or status}", retry_after=wait)
    if "html" in content_type or 300 <= status < 400 or status in {404, 502, 504}:
        title = _title(body) or f"status {status}"
        return EngineUnavailable(f"{base} is not reached: a page says {title!r}", hint="")
    if 400 <= status < 500:
        return rejected(words or f"status {status}")
    return failed(words or f"status {status}")


def rejected(words: str) -> EngineRejected:
    """The server says that the request is wrong: no other server will take it."""
    hint = "Serve with a larger --max-model-len, or lower --dpi" if _CONTEXT.search(words) else ""
    return EngineRejected(f"the server refuses the page: {words}", hint=hint)


def failed(words: str) -> BadOutput:
    """The server failed on this page and is well otherwise."""
    return BadOutput(f"the server failed on the page: {words}")


def words_of(body: bytes) -> str:
    """What the server says in its answer, on one line."""
    text = body.decode("utf-8", "replace")
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        said = None
    if isinstance(said, dict):
        error = said.get("error")
        inner = error.get("message") if isinstance(error, dict) else error
        text = str(inner or said.get("message") or said.get("detail") or text)
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= _WORDS_AT_MOST else f"{text[:_WORDS_AT_MOST]}..."


def _title(body: bytes) -> str:
    found = _TITLE.search(body.decode("utf-8", "replace"))
    return " ".join(unescape(found[1]).split())[:80] if found else ""


def _seconds(retry_after: str | None) -> float:
    """Seconds of a ``Retry-After`` header; dates and nonsense mean one second."""
    try:
        return min(max(float(retry_after or 1), 0.1), _LONGEST_WAIT)
    except ValueError:
        return 1.0
