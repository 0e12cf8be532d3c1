"""Which addresses the service itself may connect to, on behalf of a client.

Owns the guard against becoming a way into the network behind us. Never trusts a name twice:
connections go to the very addresses that were checked, so that a name that changes its address
between two look-ups gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from moonpress.errors import UsageError


class _Forbidden(OSError):
    """A name leads to an address that is not public."""


class PublicOnly(AbstractResolver):
    """Looks names up and refuses those with any address that is not public."""

    def __init__(self) -> None:
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look a name up."""
        try:
            found = await self._inner.resolve(host, port, family)
        except UnicodeError as error:
            # Labels that are empty or too long, which the look-up's codec refuses in its own way.
            raise OSError("it is no name of a host") from error
        if not all(is_public(one["host"]) for one in found):
            raise _Forbidden("it leads to an address that is not public")
        return found

    async def close(self) -> None:
        """Free what the look-ups hold."""
        await self._inner.close()


@dataclass(frozen=True, slots=True)
class AddressRules:
    """What an address of a client may be, before anything is looked up.

    Attributes:
        what: Its name in messages, such as ``image_url``.
        hosts: Patterns such as ``*.example.org``; empty for any host.
        schemes: Allowed ones.
        private: Whether addresses in figures may be private ones.
        hint: What to do when the scheme is not allowed.
    """

    what: str
    hosts: tuple[str, ...]
    schemes: Collection[str]
    private: bool = False
    hint: str = ""

    def check(self, url: str) -> None:
        """Refuse an address.

        Raises:
            UsageError: it is none, or of another scheme or host than those allowed.
        """
        try:
            parts = urlsplit(url)
            host = parts.hostname
            _ = parts.port
        except ValueError as error:
            raise UsageError(f"the {self.what} is no address", hint=self.hint) from error
        if parts.scheme not in self.schemes or not host:
            allowed = " or ".join(sorted(f"{one}:" for one in self.schemes))
            raise UsageError(f"the {self.what} is no {allowed} address", hint=self.hint)
        if self.hosts and not any(fnmatch(host, one) for one in self.hosts):
            raise UsageError(f"the host of the {self.what} is not among those allowed", hint="")
        # Addresses in figures are never looked up, so the resolver does not see them.
        if not self.private and _is_address(host) and not is_public(host):
            raise not_public(self.what)


def not_public(what: str) -> UsageError:
    """The refusal of an address; it never says what the network behind us looks like."""
    return UsageError(f"the {what} leads to an address that is not public", hint="")


def was_forbidden(error: BaseException) -> bool:
    """Whether a connection failed because the name leads to an address that is not public."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Forbidden):
            return True
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    return False


def is_public(host: str) -> bool:
    """Whether an address in figures is one of the public network."""
    address: Any = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
    if mapped is not None:
        return bool(mapped.is_global and not mapped.is_multicast)
    return bool(address.is_global and not address.is_multicast)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
