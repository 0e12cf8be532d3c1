"""Trees of folders, wherever they are: what listing one needs.

Owns the `Tree` protocol, its plain types, and the tree of the local disk. Never decides what is a
document: see `moonpress.sources.inputs.walk`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Literal, NamedTuple, Protocol

from moonpress.errors import InputMissing
from moonpress.sources.input_check import input_error

Kind = Literal["file", "folder", "other"]
# What is the same for one folder under all its names.
Identity = tuple[int, int] | str


class Entry(NamedTuple):
    """One name in a folder.

    Attributes:
        name: Its last part.
        kind: ``other`` is a device, a pipe, or a link that leads nowhere.
        is_link: Whether it is a symbolic link; ``kind`` is what it leads to.
        size: In bytes; ``None`` where listing does not tell.
        version: As `InputItem.version`.
    """

    name: str
    kind: Kind
    is_link: bool = False
    size: int | None = None
    version: str | None = None


class Tree(Protocol):
    """A disk, a bucket, a web server's folders."""

    def entries(self, folder: str) -> Iterable[Entry]:
        """What a folder holds, in an order that is always the same.

        Raises:
            InputError: it cannot be listed, at once or on the way.
        """
        ...

    def child(self, folder: str, name: str, kind: Kind) -> str:
        """The address of an entry."""
        ...

    def known(self, address: str, entry: Entry) -> Entry:
        """The entry with its size and version, where asking for them is cheap.

        Raises:
            InputError: it is gone, or leads nowhere.
        """
        ...

    def identity(self, folder: str) -> Identity:
        """Tells whether two addresses are one folder.

        Raises:
            InputError: it is gone.
        """
        ...


class LocalTree:
    """The folders of this machine; addresses are absolute paths."""

    def entries(self, folder: str) -> list[Entry]:
        """As `Tree.entries`; without sizes, which would cost a call for every file."""
        try:
            with os.scandir(folder) as listing:
                return sorted(_entry(found) for found in listing)
        except (OSError, ValueError) as error:
            raise input_error(error, folder) from None

    def child(self, folder: str, name: str, kind: Kind) -> str:  # noqa: ARG002 - of the protocol
        """As `Tree.child`."""
        return os.path.join(folder, name)  # noqa: PTH118 - paths here are strings, bytes and all

    def known(self, address: str, entry: Entry) -> Entry:
        """As `Tree.known`."""
        try:
            status = Path(address).stat()
        except (OSError, ValueError) as error:
            if entry.is_link and isinstance(error, FileNotFoundError):
                raise InputMissing("the link leads nowhere", file=address) from None
            raise input_error(error, address) from None
        kind: Kind = (
            "file" if S_ISREG(status.st_mode) else "folder" if S_ISDIR(status.st_mode) else "other"
        )
        version = f"{status.st_size}-{status.st_mtime_ns}"
        return Entry(entry.name, kind, entry.is_link, status.st_size, version)

    def identity(self, folder: str) -> Identity:
        """As `Tree.identity`."""
        return local_identity(Path(folder))


def local_identity(path: Path) -> Identity:
    """Device and number of a local folder or file.

    Raises:
        InputError: it is gone.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise input_error(error, str(path)) from None
    return status.st_dev, status.st_ino


def identities_above(tree: Tree, folder: str) -> frozenset[Identity]:
    """Of a local folder and all folders that hold it: links to these lead in circles.

    Raises:
        InputError: the folder is gone.
    """
    if not isinstance(tree, LocalTree):
        return frozenset({tree.identity(folder)})
    # Unlike Path.resolve, this never fails for links that lead in circles.
    real = Path(os.path.realpath(folder))
    return frozenset(local_identity(path) for path in (real, *real.parents))


def _entry(found: os.DirEntry[str]) -> Entry:
    try:
        kind: Kind = "folder" if found.is_dir() else "file" if found.is_file() else "other"
    except OSError:
        # A link in a circle, or into a folder that may not be searched: `known` says which.
        kind = "other"
    return Entry(found.name, kind, found.is_symlink())
