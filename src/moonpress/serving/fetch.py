"""Fetching what an ``image_url`` leads to.

Owns the bounds, redirects and ``data:`` addresses. Never decides which hosts may be reached: see
`moonpress.serving.outbound`.
"""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote_to_bytes, urljoin

import aiohttp
from aiohttp.abc import AbstractResolver

from moonpress.errors import InputTooLarge, InputUnreadable, UsageError
from moonpress.serving.limits import ServiceLimits
from moonpress.serving.outbound import AddressRules, PublicOnly, not_public, was_forbidden

_WHAT = "image_url"
_REDIRECTS = 5
_REDIRECTED = {301, 302, 303, 307, 308}


class Fetcher:
    """Fetches pictures and documents by address.

    Args:
        limits: Which hosts, and how much.
        resolver: Looks names up; one that refuses private addresses when left out.
    """

    def __init__(self, limits: ServiceLimits, resolver: AbstractResolver | None = None) -> None:
        self._limits = limits
        self._resolver = resolver
        self._rules = AddressRules(
            what=_WHAT,
            hosts=limits.hosts,
            schemes=("https", "http") if limits.plain_http else ("https",),
            # Whoever brings a resolver answers for its addresses.
            private=resolver is not None,
            hint="Send the file itself",
        )

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
        connector = aiohttp.TCPConnector(resolver=self._resolver or PublicOnly())
        try:
            async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
                return await self._follow(session, url)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _refused(error) from error

    async def _follow(self, session: aiohttp.ClientSession, url: str) -> bytes:
        for _ in range(_REDIRECTS):
            self._rules.check(url)
            async with session.get(url, allow_redirects=False) as answer:
                if answer.status in _REDIRECTED:
                    url = urljoin(url, answer.headers.get("Location", ""))
                    continue
                if answer.status != 200:
                    raise InputUnreadable(f"the image_url answers {answer.status}", hint="")
                return await self._body(answer)
        raise InputUnreadable(f"the image_url redirects more than {_REDIRECTS} times", hint="")

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


def _refused(error: BaseException) -> UsageError | InputUnreadable:
    """Never says what the network behind us looks like."""
    if was_forbidden(error):
        return not_public(_WHAT)
    return InputUnreadable("the image_url cannot be fetched", hint="Send the file itself")
