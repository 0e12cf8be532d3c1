"""Fetching what an ``image_url`` leads to, without becoming a way into the network behind us.

Owns the checks and the bounds. Never trusts a name twice: the connection goes to the very addresses
that were checked, so that a name that changes its address between two look-ups gains nothing.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import socket
from fnmatch import fnmatch
from typing import Any
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from moonpress.errors import InputTooLarge, InputUnreadable, UsageError
from moonpress.serving.limits import ServiceLimits

_REDIRECTS = 5
_REDIRECTED = {301, 302, 303, 307, 308}


class _Forbidden(OSError):
    """A name leads to an address that is not public."""


class _PublicOnly(AbstractResolver):
    """Looks names up and refuses those with any address that is not public."""

    def __init__(self) -> None:
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        if not all(_is_public(one["host"]) for one in found):
            raise _Forbidden("it leads to an address that is not public")
        return found

    async def close(self) -> None:
        await self._inner.close()


class Fetcher:
    """Fetches pictures and documents by address.

    Args:
        limits: Which hosts, and how much.
        resolver: Looks names up; one that refuses private addresses when left out.
    """

    def __init__(self, limits: ServiceLimits, resolver: AbstractResolver | None = None) -> None:
        self._limits = limits
        self._resolver = resolver

    async def fetch(self, url: str) -> bytes:
        """The bytes behind an address: ``https:``, or ``data:`` with the bytes in it.

        Raises:
            UsageError: it is no address, of another scheme, or of a host that is not allowed.
            InputUnreadable: nothing can be had there.
            InputTooLarge: it is over the bound.
        """
        if url.startswith("data:"):
            return self._from_data(url)
        timeout = aiohttp.ClientTimeout(total=self._limits.fetch_seconds)
        connector = aiohttp.TCPConnector(resolver=self._resolver or _PublicOnly())
        try:
            async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
                return await self._follow(session, url)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _refused(error) from error

    async def _follow(self, session: aiohttp.ClientSession, url: str) -> bytes:
        for _ in range(_REDIRECTS):
            self._check(url)
            async with session.get(url, allow_redirects=False) as answer:
                if answer.status in _REDIRECTED:
                    url = urljoin(url, answer.headers.get("Location", ""))
                    continue
                if answer.status != 200:
                    raise InputUnreadable(f"the image_url answers {answer.status}", hint="")
                return await self._body(answer)
        raise InputUnreadable(f"the image_url redirects more than {_REDIRECTS} times", hint="")

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        schemes = {"https", "http"} if self._limits.plain_http else {"https"}
        if parts.scheme not in schemes or not parts.hostname:
            allowed = " and ".join(sorted(f"{one}:" for one in schemes))
            raise UsageError(f"an image_url may be {allowed} or data:", hint="Send the file itself")
        host = parts.hostname
        if self._limits.hosts and not any(fnmatch(host, one) for one in self._limits.hosts):
            raise UsageError("the host of the image_url is not among those allowed", hint="")
        # Addresses in figures are never looked up, so the resolver does not see them.
        if self._resolver is None and _is_address(host) and not _is_public(host):
            raise UsageError("the image_url leads to an address that is not public", hint="")

    async def _body(self, answer: aiohttp.ClientResponse) -> bytes:
        most = self._limits.fetched_bytes
        pieces, size = [], 0
        async for piece in answer.content.iter_chunked(1 << 16):
            size += len(piece)
            if size > most:
                raise InputTooLarge(
                    f"what the image_url leads to is over {most >> 20} MiB", hint=""
                )
            pieces.append(piece)
        return b"".join(pieces)

    def _from_data(self, url: str) -> bytes:
        head, comma, body = url.partition(",")
        if not comma:
            raise UsageError("the data: address holds no data", hint="")
        if not head.endswith(";base64"):
            return unquote_to_bytes(body)
        try:
            return base64.b64decode(body, validate=False)
        except (binascii.Error, ValueError) as error:
            raise UsageError("the data: address is no base64", hint="") from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _is_public(host: str) -> bool:
    address: Any = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if mapped is not None:
        return bool(mapped.is_global and not mapped.is_multicast)
    return bool(address.is_global and not address.is_multicast)


def _refused(error: BaseException) -> UsageError | InputUnreadable:
    """Never says what the network behind us looks like."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Forbidden):
            return UsageError("the image_url leads to an address that is not public", hint="")
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    return InputUnreadable("the image_url cannot be fetched", hint="Send the file itself")
