"""What the user wrote: paths, patterns, addresses, lists, arXiv ids.

Owns telling them apart and where relative ones begin. Looks at the disk only to see whether a name
with ``*`` or ``[`` in it is a file of that name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from moonpress.errors import InputUnreadable
from moonpress.sources.inputs.address import (
    WEB,
    MemberAddress,
    is_remote,
    member_address,
    path_of,
    scheme_of,
    split_remote,
    uri_of,
)
from moonpress.sources.inputs.globs import GlobPattern, has_magic
from moonpress.sources.inputs.ids import marked, place, safe_part, safe_parts

_ARXIV = re.compile(r"arxiv:(.*)\Z", re.IGNORECASE | re.DOTALL)
# Before and after April 2007; see https://info.arxiv.org/help/arxiv_identifier.html.
_ARXIV_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?\Z")
_LIST_MARK = "@"

What = Literal["place", "glob", "list", "manifest", "member", "fetch"]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that the user named.

    Attributes:
        text: As the user wrote it.
        what: A ``place`` is a file, a folder or an archive; ``fetch`` is one remote file, whatever
            its address looks like; a ``member`` is in an archive.
        address: An absolute local path or a remote address; of a glob, the folder to begin at.
        label: Short name, for ids when there are several roots.
        where: Its whole place as safe parts of an id, for ids of lines of a list.
        pattern: Of a glob, below ``address``.
    """

    text: str
    what: What
    address: str
    label: str
    where: tuple[str, ...]
    pattern: GlobPattern | None = None


def parse_target(text: str, base: str, arxiv: str, *, in_list: bool) -> Target:
    """What one argument, or one line of a list, stands for.

    Args:
        text: As written.
        base: Folder that relative paths begin at: an absolute path or a remote address.
        arxiv: Address of an arXiv paper, with ``{id}`` in it.
        in_list: Lists and manifests may not hold lists.

    Raises:
        InputUnreadable: this can be no input.
    """
    if not text:
        raise InputUnreadable("the name is empty", hint="Name a file or a folder")
    found = _ARXIV.match(text)
    if found:
        return _arxiv(text, found[1].strip(), arxiv)
    if text.startswith(_LIST_MARK) and not in_list:
        address = _absolute(text[1:], base)
        return Target(text, "list", address, _label(address), _where(address, base))
    member = member_address(text)
    if member is not None:
        return _member(text, member, base)
    address = _absolute(text, base)
    if not in_list and _name(address).lower().endswith(".jsonl"):
        return Target(text, "manifest", address, _label(address), _where(address, base))
    if _is_pattern(address):
        return _glob(text, address, base)
    return Target(text, "place", address, _label(address), _where(address, base))


def exact_target(text: str, base: str) -> Target:
    """A path or address in which nothing is a pattern."""
    address = _absolute(text, base)
    return Target(text, "place", address, _label(address), _where(address, base))


def _member(text: str, member: MemberAddress, base: str) -> Target:
    container = _absolute(member.container, base)
    parts = [part for part in member.name.split("/") if part]
    if not parts:
        raise InputUnreadable("the address names no member of the archive")
    whole = container if is_remote(container) else uri_of(container)
    address = str(replace(member, container=whole))
    where = (*_where(container, base), *safe_parts(parts))
    return Target(text, "member", address, parts[-1], where)


def _arxiv(text: str, paper: str, template: str) -> Target:
    if not _ARXIV_ID.match(paper):
        raise InputUnreadable(
            "this is no arXiv id", hint="Write arxiv:2401.01234 or arxiv:hep-th/9901001v2"
        )
    address = template.replace("{id}", quote(paper))
    where = (place("arxiv"), *safe_parts(paper.split("/")))
    return Target(text, "fetch", address, paper.replace("/", "-"), where)


def _absolute(text: str, base: str) -> str:
    if is_remote(text):
        return text
    path = path_of(text)
    if is_remote(base) and not path.startswith("/"):
        return f"{base.rstrip('/')}/{path.removeprefix('./')}"
    path = os.path.join(path_of(base), path)  # noqa: PTH118 - keeps what pathlib would tidy away
    if "\0" in path:
        return path
    # What .. means depends on links; without it, nothing has to be asked of the disk.
    return os.path.realpath(path) if ".." in path.split("/") else os.path.abspath(path)  # noqa: PTH100


def _is_pattern(address: str) -> bool:
    if scheme_of(address) in WEB:
        # A question mark begins the query there, and brackets stand around IPv6 addresses.
        return "*" in address.partition("?")[0]
    if not has_magic(address):
        return False
    return is_remote(address) or not os.path.lexists(address)


def _glob(text: str, address: str, base: str) -> Target:
    scheme = scheme_of(address)
    start = len(scheme) + 3 if is_remote(address) else 0
    parts = address[start:].rstrip("/").split("/")
    fixed = next(at for at, part in enumerate(parts) if has_magic(part))
    if fixed == 0:
        raise InputUnreadable("a pattern cannot stand for a server or a bucket")
    folder = address[:start] + "/".join(parts[:fixed])
    folder = f"{folder}/" if scheme in WEB else folder or "/"
    pattern = GlobPattern(tuple(parts[fixed:]))
    return Target(text, "glob", folder, _label(folder), _where(folder, base), pattern)


def _name(address: str) -> str:
    return split_remote(address)[1][-1] if is_remote(address) else Path(address).name


def _label(address: str) -> str:
    return _name(address) or "root"


def _where(address: str, base: str) -> tuple[str, ...]:
    """Relative to the base where it is below it, else the whole address."""
    if is_remote(address):
        return _where_remote(address, base)
    parts = [part for part in address.split("/") if part]
    if not is_remote(base):
        above = [part for part in path_of(base).split("/") if part]
        if parts[: len(above)] == above:
            return safe_parts(parts[len(above) :])
    return (place("file"), *safe_parts(parts))


def _where_remote(address: str, base: str) -> tuple[str, ...]:
    scheme, parts, query = split_remote(address)
    last = marked(parts[-1], f"{parts[-1]}?{query}") if query else safe_part(parts[-1])
    whole = (*safe_parts(parts[:-1]), last)
    if is_remote(base):
        base_scheme, above, _ = split_remote(base)
        if base_scheme == scheme and parts[: len(above)] == above and len(parts) > len(above):
            return whole[len(above) :]
    return (place(scheme), *whole)
