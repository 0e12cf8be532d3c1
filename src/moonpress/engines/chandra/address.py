"""Where a server is and how to be let in.

Owns the reading of addresses, headers and keys as people write them. Never connects.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit

from moonpress.errors import UsageError

_API = "/v1"
_CHAT = "/chat/completions"
_LOCAL = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Address:
    """One server.

    Attributes:
        base: Such as ``http://host:8000/v1``, without a slash at the end.
        api_key: Sent as a bearer token; ``None`` for servers that want none.
        ca_file: PEM file of the authority that signed the server's certificate, where it is none
            that this machine trusts.
        headers: Sent with every request.
    """

    base: str
    api_key: str | None = None
    ca_file: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def root(self) -> str:
        """The address without the API's part, where ``/health`` is."""
        return self.base.removesuffix(_API)

    @property
    def local(self) -> bool:
        """Whether the server is on this machine, by its address."""
        return urlsplit(self.base).hostname in _LOCAL


def base_of(url: str) -> str:
    """The base address that a person means: with scheme, and with ``/v1`` where no path is given.

    >>> base_of("gpu1:8000")
    'http://gpu1:8000/v1'
    >>> base_of("https://host/models/ocr/v1/chat/completions")
    'https://host/models/ocr/v1'

    Raises:
        UsageError: it is no address of a web server.
    """
    text = url.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or any(letter.isspace() for letter in text):
        message = f"{url!r} is no address of a server"
        raise UsageError(message, hint="Write it as --url http://host:8000/v1")
    path = parts.path.rstrip("/").removesuffix(_CHAT) or _API
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def without_login(base: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A base address without name and password, and the header that says them instead.

    Addresses stand in messages, logs and metrics.

    >>> without_login("http://me:secret@host:8000/v1")
    ('http://host:8000/v1', (('Authorization', 'Basic bWU6c2VjcmV0'),))
    """
    parts = urlsplit(base)
    login, at, place = parts.netloc.rpartition("@")
    if not at:
        return base, ()
    said = base64.b64encode(unquote_to_bytes(login)).decode("ascii")
    bare = urlunsplit((parts.scheme, place, parts.path, "", ""))
    return bare, (("Authorization", f"Basic {said}"),)


def header_of(text: str) -> tuple[str, str]:
    """The name and value in ``Name: value``.

    >>> header_of("X-Team: papers")
    ('X-Team', 'papers')

    Raises:
        UsageError: it is no header, or holds what no header may.
    """
    name, colon, value = (part.strip() for part in text.partition(":"))
    token = name.replace("-", "").replace("_", "")
    if not colon or not token.isascii() or not token.isalnum() or not value.isprintable():
        message = "a header is not of the form 'Name: value'"
        raise UsageError(message, hint="Write it as --header 'X-Team: papers'")
    return name, value
