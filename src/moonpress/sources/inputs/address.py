"""Addresses: what is local, what is remote, what may be shown.

Owns the forms of `InputItem.uri` and taking secrets out of addresses. Never connects.

A local file is its absolute path, or a ``file://`` address where its name is no valid Unicode, so
that every uri can be stored and sent. A member of an archive is
``zip://NAME?at=N::CONTAINER`` (or ``tar://``) with its name percent-encoded; ``at`` is the place of
its header, which spares looking for it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

_REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")
_MEMBER = re.compile(r"(zip|tar)://([^?:]*)(?:\?at=(\d{1,19}))?::(.+)\Z", re.DOTALL)
_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_QUERY = re.compile(r"(?<=://)([^\s?]*)\?\S+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What signs an address anew each time it is handed out and says nothing of the document.
_SIGNATURES = re.compile(
    r"x-amz-.*|x-goog-.*|signature|expires|awsaccesskeyid|googleaccessid|key-pair-id|policy|sig|se|sv"
    r"|st|sp|sr|token|access_token",
    re.IGNORECASE,
)
WEB = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True)
class MemberAddress:
    """Where a member of an archive is.

    Attributes:
        form: ``zip`` or ``tar``, compressed or not.
        name: Of the member, as the archive has it.
        container: Path or address of the archive.
        at: Offset of its header in bytes: of its entry in the directory of a zip, and of its first
            block in an unpacked tar. ``None`` where it is not known.
    """

    form: str
    name: str
    container: str
    at: int | None = None

    def __str__(self) -> str:
        """The uri of the member."""
        at = "" if self.at is None else f"?at={self.at}"
        name = quote(self.name, safe="/", errors="surrogateescape")
        return f"{self.form}://{name}{at}::{self.container}"


def member_address(uri: str) -> MemberAddress | None:
    """The parts of the uri of an archive's member; ``None`` for other addresses."""
    found = _MEMBER.match(uri)
    if found is None:
        return None
    form, name, at, container = found.groups()
    name = unquote(name, errors="surrogateescape")
    return MemberAddress(form, name, container, None if at is None else int(at))


def scheme_of(address: str) -> str:
    """Such as ``s3``, in small letters; ``file`` for local paths."""
    found = _REMOTE.match(address)
    return found[1].lower() if found else "file"


def is_remote(address: str) -> bool:
    """Whether it takes more than the operating system to open it."""
    return scheme_of(address) != "file"


def comes_over_network(uri: str) -> bool:
    """Whether a document, or the archive that it lies in, is not on this machine."""
    member = member_address(uri)
    return is_remote(uri if member is None else member.container)


def path_of(uri: str) -> str:
    """The local path that a uri stands for."""
    found = _REMOTE.match(uri)
    if found is None:
        return uri
    return unquote(urlsplit(uri).path, errors="surrogateescape")


def uri_of(path: str) -> str:
    """The uri of an absolute local path."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "file://" + quote(os.fsencode(path), safe="/")
    return path


def shown(text: str) -> str:
    """An address, or a message with addresses in it, in one line and without secrets."""
    text = _USER.sub("", text)
    text = _QUERY.sub(r"\1?...", text)
    text = text.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def split_remote(address: str) -> tuple[str, tuple[str, ...], str]:
    """Scheme, parts of the path (the host or bucket first) and a lasting query of an address."""
    scheme = scheme_of(address)
    rest = _USER.sub("", address)[len(scheme) + 3 :]
    query = ""
    if scheme in WEB:
        rest = rest.partition("#")[0]
        rest, _, query = rest.partition("?")
        fields = (field for field in query.split("&") if field)
        query = "&".join(f for f in fields if not _SIGNATURES.fullmatch(f.partition("=")[0]))
        rest = unquote(rest, errors="surrogateescape")
    # Empty parts in the middle stay: to an object store a//b and a/b are two objects.
    return scheme, tuple(rest.strip("/").split("/")), query


def archive_name(address: str) -> str:
    """The last part of a path or an address, which tells how an archive is packed."""
    if not is_remote(address):
        return path_of(address).rpartition("/")[2]
    return split_remote(address)[1][-1]
