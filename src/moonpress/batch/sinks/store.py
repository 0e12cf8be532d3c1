"""Where finished files lie: a local folder, or a place that fsspec knows.

Owns putting files there whole or not at all. Never knows what is in a file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from moonpress.batch.sinks.scratch import Scratch
from moonpress.errors import MoonpressError, OutputError, UsageError
from moonpress.outputs.disk import output_errors, sync, temporary_name, write_new

_REQUESTS_AT_ONCE: Final = 8
# To make a folder there means to make a bucket, which a slip of the pen must not do.
_WITHOUT_FOLDERS: Final = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl"})
_EXTRAS: Final = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}


class Store(Protocol):
    """A flat or nested collection of named files; names are relative, with ``/`` between parts.

    All methods raise `NoSpace` when the disk is full, and `OutputError` for other failures.
    """

    scratch: Scratch

    def names(self) -> list[str]:
        """Names of the files directly in it, hidden ones too."""
        ...

    def claim(self, name: str, data: bytes) -> bool:
        """Make a small file for good, if there is none of that name; whether it was made."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a small file for good."""
        ...

    def publish(self, file: Path, name: str) -> None:
        """Put a file of the scratch folder, complete, in the place of ``name``, for good."""
        ...

    def move(self, name: str, new_name: str) -> None:
        """Give a file another name; where it has that already, nothing is done."""
        ...

    def read(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """Small files; those that are missing are left out."""
        ...

    def local(self, name: str) -> AbstractContextManager[Path]:
        """A local copy, or the file itself: not to be changed."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...


def open_store(root: str) -> Store:
    """The store at ``root``, which is made where that is needed.

    Args:
        root: A local folder, or an address such as ``s3://bucket/results``.

    Raises:
        UsageError: nothing is installed for such addresses.
        NoSpace: the disk is full.
        OutputError: it cannot be made or reached.
    """
    return RemoteStore(root) if is_remote(root) else LocalStore(local_path(root))


def is_remote(root: str) -> bool:
    """Whether ``root`` is an address that fsspec is needed for."""
    return "://" in root and not root.startswith("file://")


def local_path(root: str) -> Path:
    """The local folder that ``root`` names, as a path or as a ``file://`` address."""
    return Path(root.removeprefix("file://"))


class LocalStore:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root
        with output_errors(str(root)):
            make_folder(root)
            self.scratch = Scratch(root)

    def names(self) -> list[str]:
        """As `Store.names`."""
        with output_errors(str(self._root)):
            return sorted(path.name for path in self._root.iterdir())

    def claim(self, name: str, data: bytes) -> bool:
        """As `Store.claim`."""
        place = self._root / name
        with output_errors(str(place)):
            new = self.scratch.file("")
            write_new(new, data)
            try:
                # Unlike a file that is made exclusively and then filled, it is never seen empty.
                os.link(new, place)
            except FileExistsError:
                return False
            except OSError:
                # Not all file systems know links.
                return _made(place, data)
            finally:
                new.unlink()
            sync(self._root)
        return True

    def write(self, name: str, data: bytes) -> None:
        """As `Store.write`."""
        with output_errors(str(self._root / name)):
            new = self.scratch.file("")
            with new.open("xb") as file:
                _fill(file, data)
        self.publish(new, name)

    def publish(self, file: Path, name: str) -> None:
        """As `Store.publish`."""
        place = self._root / name
        with output_errors(str(place)):
            make_folder(place.parent)
            sync(file)
            file.replace(place)
            sync(place.parent)

    def move(self, name: str, new_name: str) -> None:
        """As `Store.move`."""
        with output_errors(str(self._root / new_name)):
            try:
                (self._root / name).replace(self._root / new_name)
            except FileNotFoundError:
                return
            sync(self._root)

    def read(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """As `Store.read`."""
        with output_errors(str(self._root)):
            return {n: (self._root / n).read_bytes() for n in names if (self._root / n).is_file()}

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """As `Store.local`."""
        yield self._root / name

    def remove(self, name: str) -> None:
        """As `Store.remove`."""
        with output_errors(str(self._root / name)):
            (self._root / name).unlink(missing_ok=True)
            if (self._root / name).parent.is_dir():
                sync((self._root / name).parent)


class RemoteStore:
    """A place behind fsspec. Object stores show an object once it is whole."""

    def __init__(self, root: str) -> None:
        self._address = root.rstrip("/")
        with self._errors(""):
            # The address, not the user, says what is needed, so the import may fail.
            from fsspec.core import url_to_fs

            fs, path = _opened(url_to_fs, self._address)
            self._fs: Any = fs
            self._root = str(path).rstrip("/")
        self._has_folders = self._address.partition("://")[0] not in _WITHOUT_FOLDERS
        with output_errors(tempfile.gettempdir()):
            self.scratch = Scratch(Path(tempfile.gettempdir()))
        self._try_out()

    def names(self) -> list[str]:
        """As `Store.names`."""
        with self._errors(""):
            self._fs.invalidate_cache()
            try:
                listed = self._fs.ls(self._root, detail=False)
            except FileNotFoundError:
                # An object store has no folder before it has something in it.
                return []
            return sorted(str(path).rstrip("/").rpartition("/")[2] for path in listed)

    def claim(self, name: str, data: bytes) -> bool:
        """As `Store.claim`."""
        with self._errors(name):
            self._make_folder(name)
            try:
                self._fs.pipe_file(self._path(name), data, mode="create")
            except FileExistsError:
                return False
        return True

    def write(self, name: str, data: bytes) -> None:
        """As `Store.write`."""
        with output_errors(tempfile.gettempdir()):
            new = self.scratch.file("")
            new.write_bytes(data)
        self.publish(new, name)

    def publish(self, file: Path, name: str) -> None:
        """As `Store.publish`."""
        with self._errors(name):
            self._make_folder(name)
            self._fs.put_file(str(file), self._path(name))
        file.unlink(missing_ok=True)

    def move(self, name: str, new_name: str) -> None:
        """As `Store.move`."""
        with self._errors(new_name):
            try:
                self._fs.cp_file(self._path(name), self._path(new_name))
                self._fs.rm_file(self._path(name))
            except FileNotFoundError:
                return

    def read(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """As `Store.read`."""
        # One by one, as the call for many takes brackets in names for patterns.
        with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as threads:
            found = dict(zip(names, threads.map(self._read, names), strict=True))
        return {name: data for name, data in found.items() if data is not None}

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """As `Store.local`: a copy in the scratch folder."""
        with output_errors(tempfile.gettempdir()):
            copy = self.scratch.file("")
        with self._errors(name):
            self._fs.get_file(self._path(name), str(copy))
        yield copy
        copy.unlink()

    def remove(self, name: str) -> None:
        """As `Store.remove`."""
        with self._errors(name):
            try:
                self._fs.rm_file(self._path(name))
            except FileNotFoundError:
                return

    def _make_folder(self, name: str) -> None:
        if self._has_folders:
            self._fs.makedirs(self._path(name).rpartition("/")[0], exist_ok=True)

    def _try_out(self) -> None:
        """Find out now, not after hours of reading, whether it can be written."""
        trial = temporary_name(Path()).name
        self.write(trial, b"")
        self.remove(trial)

    def _read(self, name: str) -> bytes | None:
        with self._errors(name):
            try:
                data: bytes = self._fs.cat_file(self._path(name))
            except FileNotFoundError:
                return None
        return data

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        where = f"{self._address}/{name}".rstrip("/")
        try:
            with output_errors(where):
                yield
        except MoonpressError:
            raise
        except Exception as error:
            # Backends raise what their libraries raise.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise OutputError(f"cannot be written: {reason}", file=where) from error


def _opened(open_address: Any, address: str) -> tuple[Any, str]:
    scheme = address.partition("://")[0]
    try:
        fs, path = open_address(address)
    except ImportError as error:
        extra = _EXTRAS.get(scheme)
        hint = f"Install moonpress[{extra}]" if extra else f"Install the fsspec backend of {scheme}"
        raise UsageError(f"nothing is installed for {scheme}:// addresses", hint=hint) from error
    except ValueError as error:
        raise UsageError(f"no such kind of address: {address}") from error
    return fs, path


def make_folder(folder: Path) -> None:
    """Make ``folder`` and those above it so that a power cut does not take their names away.

    Raises:
        OSError: one cannot be made.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync(folder.parent)


def _made(path: Path, data: bytes) -> bool:
    """Make a file, if there is none."""
    try:
        write_new(path, data)
    except FileExistsError:
        return False
    sync(path.parent)
    return True


def _fill(file: Any, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
