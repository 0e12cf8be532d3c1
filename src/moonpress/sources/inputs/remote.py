"""Trees and files of other places: object stores and all else that fsspec knows, and the web.

Owns listing and fetching there, and what failures mean. Backends of fsspec are installed as extras;
a missing one is named. Never unpacks anything.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO
from urllib.parse import quote, unquote, urljoin

import lxml.html
from lxml.etree import ParserError

from moonpress.errors import (
    InputError,
    InputMissing,
    InputNotAFile,
    InputUnreadable,
    UnsupportedInput,
)
from moonpress.sources.inputs.address import WEB, scheme_of, shown
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.retrying import Transient, retried
from moonpress.sources.inputs.s3_pages import is_paged, page_after
from moonpress.sources.inputs.scratch import too_large, write_chunk
from moonpress.sources.inputs.tree import Entry, Identity, Kind, Tree
from moonpress.sources.inputs.web import download, index_page

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
# Backends fetch in blocks; the default of some is 50 MiB for each open file.
_BLOCK = 4 << 20
_VERSION_FIELDS = ("ETag", "etag", "LastModified", "last_modified", "updated", "mtime", "created")


def remote_tree(address: str, limits: Limits) -> Tree:
    """The tree that holds a remote folder."""
    return WebTree(limits) if scheme_of(address) in WEB else StoreTree(limits)


def fetch(address: str, target: BinaryIO, bound: int, limits: Limits) -> None:
    """Copy a remote file.

    Args:
        address: Of the file.
        target: Seekable and empty; may hold a part of the file when this fails.
        bound: Bytes that the file may have.
        limits: Bounds of time, and how often to try.

    Raises:
        InputMissing: no such file.
        InputUnreadable: refused, or unreachable.
        InputTooLarge: it is over the bound.
        InputError: of another kind.
        OutputError: writing to ``target`` failed.
    """

    def work() -> None:
        target.seek(0)
        target.truncate()
        if scheme_of(address) in WEB:
            download(address, target, bound, limits)
        else:
            _copy(address, target, bound)

    retried(work, limits)


class StoreTree:
    """An object store, or another place that fsspec reads; addresses are its urls."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def entries(self, folder: str) -> Iterable[Entry]:
        """As `Tree.entries`."""
        with _translated():
            files, path = _file_system(folder)
        return self._pages(files, path) if is_paged(files, path) else self._all(files, path)

    def _pages(self, files: Any, path: str) -> Iterator[Entry]:
        """Page by page: a listing of a million objects takes a gigabyte otherwise."""
        token: str | None = None
        while True:
            page, token = retried(partial(self._page, files, path, token), self._limits)
            yield from page
            if token is None:
                return

    def _page(self, files: Any, path: str, token: str | None) -> tuple[list[Entry], str | None]:
        with _translated():
            return page_after(files, path, token)

    def _all(self, files: Any, path: str) -> list[Entry]:
        def work() -> list[Entry]:
            with _translated():
                found = {}
                # Listings are kept in memory for good otherwise, and answer for later changes.
                files.invalidate_cache(path)
                for info in files.ls(path, detail=True):
                    entry = _entry(info)
                    if info["name"].rstrip("/") == path.rstrip("/"):
                        # The mark that stores have for an empty folder, or a folder without a name.
                        if not info["name"].endswith("/") or entry.version is not None:
                            continue
                        entry = Entry("", "folder")
                    found[entry.name, entry.kind] = entry
                files.invalidate_cache(path)
                return sorted(found.values(), key=lambda entry: (entry.name, entry.kind))

        return retried(work, self._limits)

    def child(self, folder: str, name: str, kind: Kind) -> str:  # noqa: ARG002 - of the protocol
        """As `Tree.child`."""
        if "::" in name:
            raise InputUnreadable(
                "a name with '::' in it cannot be addressed", hint="Rename the file"
            )
        if not name:
            raise InputUnreadable(
                "a folder without a name cannot be addressed", hint="Rename what is in it"
            )
        return f"{folder.rstrip('/')}/{name}"

    def known(self, address: str, entry: Entry) -> Entry:  # noqa: ARG002 - of the protocol
        """As `Tree.known`."""
        return entry

    def identity(self, folder: str) -> Identity:
        """As `Tree.identity`."""
        return folder.rstrip("/")

    def look(self, address: str) -> Entry:
        """What is at an address.

        Raises:
            InputError: nothing, or it cannot be asked for.
        """

        def work() -> Entry:
            with _translated():
                files, path = _file_system(address)
                files.invalidate_cache(path)
                return _entry(files.info(path))

        return retried(work, self._limits)


class WebTree:
    """The folders of a web server that lists them; addresses of folders end with a slash."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def entries(self, folder: str) -> Iterable[Entry]:
        """As `Tree.entries`: the links of the index page that lead right below the folder."""
        base, page = retried(lambda: index_page(folder, self._limits), self._limits)
        base = base.partition("?")[0]
        found: dict[str, Entry] = {}
        for link in _links(page):
            address = urljoin(base, link).partition("#")[0]
            below = address.removeprefix(base)
            name = below.rstrip("/")
            if below == address or not name or "/" in name or "?" in name:
                continue
            kind: Kind = "folder" if below.endswith("/") else "file"
            found[name] = Entry(unquote(name, errors="surrogateescape"), kind)
        return sorted(found.values())

    def child(self, folder: str, name: str, kind: Kind) -> str:
        """As `Tree.child`."""
        quoted = quote(name, safe="", errors="surrogateescape")
        return f"{folder.partition('?')[0]}{quoted}{'/' if kind == 'folder' else ''}"

    def known(self, address: str, entry: Entry) -> Entry:  # noqa: ARG002 - of the protocol
        """As `Tree.known`."""
        return entry

    def identity(self, folder: str) -> Identity:
        """As `Tree.identity`."""
        return folder


def _links(page: bytes) -> Iterator[str]:
    try:
        tree = lxml.html.document_fromstring(page)
    except ParserError:
        return
    for link in tree.iter("a"):
        href = link.get("href")
        if href:
            yield href.strip()


def _file_system(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address, and the path in it."""
    from fsspec.core import url_to_fs

    scheme = scheme_of(address)
    try:
        files, path = url_to_fs(address)
    except ImportError as error:
        extra = _EXTRAS.get(scheme)
        hint = f"pip install 'moonpress[{extra}]'" if extra else shown(str(error))
        raise UnsupportedInput(
            f"what reads {scheme}:// addresses is not installed", hint=hint
        ) from None
    except ValueError as error:
        if "rotocol" not in str(error):
            raise
        raise UnsupportedInput(
            f"no way to read {scheme}:// addresses is known", hint="Check the address"
        ) from None
    return files, str(path)


def _copy(address: str, target: BinaryIO, bound: int) -> None:
    with _translated():
        files, path = _file_system(address)
        source = files.open(path, "rb", block_size=_BLOCK)
    with source:
        size = 0
        while chunk := _read(source.read):
            size += len(chunk)
            if size > bound:
                raise too_large(bound)
            write_chunk(target, chunk)


def _read(read: Callable[[int], bytes]) -> bytes:
    """A part of a remote file; apart from writing it, so that a full disk is not the store's."""
    with _translated():
        return read(_BLOCK)


@contextmanager
def _translated() -> Iterator[None]:
    """Failures of fsspec's backends as typed errors."""
    try:
        yield
    except (InputError, Transient):
        raise
    except FileNotFoundError:
        raise InputMissing("there is no such file or folder") from None
    except IsADirectoryError:
        raise InputNotAFile("this is a folder") from None
    except PermissionError:
        raise InputUnreadable(
            "access is refused", hint="Check the credentials of this machine"
        ) from None
    except (TimeoutError, ConnectionError) as error:
        raise Transient(_cause(error)) from None
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        raise InputUnreadable(
            _cause(error), hint="Check the address and the credentials of this machine"
        ) from None


def _cause(error: Exception) -> str:
    lines = shown(str(error).strip()).splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _entry(info: dict[str, Any]) -> Entry:
    kind: Kind = "folder" if info.get("type") == "directory" else "file"
    size = info.get("size")
    size = int(size) if isinstance(size, int | float) and kind == "file" else None
    mark = next((str(info[field]) for field in _VERSION_FIELDS if info.get(field)), None)
    version = None if mark is None else f"{size}-{mark}"
    name = posixpath.basename(str(info["name"]).rstrip("/"))
    return Entry(name, kind, size=size, version=version)
