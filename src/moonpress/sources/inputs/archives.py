"""Documents in archives, found without unpacking any.

Owns which members are taken and what is wrong with others: names that lead out of the archive,
encryption, links, claims of too much. Members are never written by their names, so that a bad name
harms nobody; it is refused because it says that something is wrong. Archives in archives are passed
over. Never fetches: the archive is a local file.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from moonpress.errors import InputError, InputUnreadable
from moonpress.sources.input_check import input_error
from moonpress.sources.inputs.kinds import Archive, is_document
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.scratch import too_large
from moonpress.sources.inputs.tars import TarMembers, damage
from moonpress.sources.inputs.zips import ZipEntry, zip_entries


@dataclass(frozen=True, slots=True)
class Member:
    """A document in an archive.

    Attributes:
        parts: Its path in the archive, part by part.
        name: As the archive has it.
        at: As `MemberAddress.at`.
        size: In bytes, as the archive claims.
        mark: Changes when the content may have changed; ``None`` where the archive does not tell.
    """

    parts: tuple[str, ...]
    name: str
    at: int
    size: int
    mark: str | None


@dataclass(frozen=True, slots=True)
class BadMember:
    """A member that would have been taken and cannot be read; an empty name is the archive's."""

    name: str
    error: InputError


def members(
    path: Path, kind: Archive, limits: Limits, skipped: Callable[[str], None]
) -> Iterator[Member | BadMember]:
    """The documents of an archive, in its order, and what cannot be read.

    Args:
        path: The archive, a local file.
        kind: How it is packed.
        limits: Bounds of what is unpacked.
        skipped: Told the name of each file that is no document.
    """
    try:
        yield from (
            _zip(path, limits, skipped) if kind == "zip" else _tar(path, kind, limits, skipped)
        )
    except InputError as error:
        yield BadMember("", error)


def _zip(
    path: Path, limits: Limits, skipped: Callable[[str], None]
) -> Iterator[Member | BadMember]:
    try:
        with path.open("rb") as file:
            for entry in zip_entries(file):
                if entry.name.endswith("/") or not _is_wanted(entry.name, skipped):
                    continue
                error = entry.complaint() or _complaint(entry.name, entry.size, limits)
                yield BadMember(entry.name, error) if error else _zip_member(entry)
    except OSError as error:
        raise input_error(error, "") from None


def _zip_member(entry: ZipEntry) -> Member:
    mark = f"{entry.size}-{entry.crc:08x}"
    return Member(_parts(entry.name), entry.name, entry.at, entry.size, mark)


def _tar(
    path: Path, kind: Archive, limits: Limits, skipped: Callable[[str], None]
) -> Iterator[Member | BadMember]:
    tar = TarMembers(path, kind, limits)
    try:
        while (found := tar.next()) is not None:
            if found.isdir() or not _is_wanted(found.name, skipped):
                continue
            error = _link_complaint(found) or _complaint(found.name, found.size, limits)
            yield (
                BadMember(found.name, error)
                if error
                else Member(_parts(found.name), found.name, found.offset, found.size, None)
            )
    finally:
        with damage():
            tar.close()


def _is_wanted(name: str, skipped: Callable[[str], None]) -> bool:
    """As in folders: hidden names are passed over without a word."""
    parts = name.replace("\\", "/").split("/")
    if any(part.startswith(".") and part not in {".", ".."} for part in parts):
        return False
    if is_document(name):
        return True
    skipped(name)
    return False


def _link_complaint(member: tarfile.TarInfo) -> InputError | None:
    if member.isreg():
        return None
    kind = "a link within the archive" if member.islnk() or member.issym() else "no regular file"
    return InputUnreadable(f"this is {kind}", hint="Unpack the archive and name the folder instead")


def _complaint(name: str, size: int, limits: Limits) -> InputError | None:
    plain = name.replace("\\", "/")
    if plain.startswith("/") or plain[1:2] == ":" or ".." in plain.split("/"):
        return InputUnreadable("its name leads out of the archive", hint="Pack the archive again")
    if size > limits.document_bytes:
        return too_large(limits.document_bytes)
    return None


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("/") if part not in {"", "."})
