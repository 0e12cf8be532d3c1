"""Sinks by name.

Owns the list, and how large files of a dataset get. Never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from moonpress.batch.sinks.base import Sink
from moonpress.batch.sinks.folder import LocalFolderSink, RemoteFolderSink
from moonpress.batch.sinks.rows import DEFAULT_FORMATS
from moonpress.batch.sinks.shards import ShardedSink, ShardLimits
from moonpress.batch.sinks.store import is_remote, local_path, open_store
from moonpress.document import RenderOptions
from moonpress.document.rendering import find_output
from moonpress.errors import UnknownName, UsageError

Factory = Callable[[str, Sequence[str], RenderOptions], Sink]

# Files of some 50 MB once they are packed; what is in one that is not full yet has to be rendered
# again after a crash, but not read again.
_LIMITS: Final = ShardLimits(size=256 << 20, rows=10_000)


def _folder(root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    if is_remote(root):
        return RemoteFolderSink(open_store(root), formats, options)
    return LocalFolderSink(local_path(root), formats, options)


def _jsonl(root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    from moonpress.batch.sinks.jsonl import JsonlCodec

    formats = formats or DEFAULT_FORMATS
    return ShardedSink(open_store(root), JsonlCodec(), formats, options, _LIMITS)


def _parquet(root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    try:
        from moonpress.batch.sinks.parquet import ParquetCodec
    except ImportError as error:
        raise UsageError(
            "Parquet needs pyarrow", hint="Install moonpress[parquet], or take --sink jsonl"
        ) from error
    formats = formats or DEFAULT_FORMATS
    return ShardedSink(open_store(root), ParquetCodec(formats), formats, options, _LIMITS)


SINKS: Final[Mapping[str, Factory]] = MappingProxyType(
    {"folder": _folder, "jsonl": _jsonl, "parquet": _parquet}
)
# Sinks whose documents are rows of common files.
DATASETS: Final = frozenset(SINKS) - {"folder"}


def make_sink(kind: str, root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    """Make the sink called ``kind``.

    Args:
        kind: A key of `SINKS`.
        root: A local folder, which is made where it is missing, or an fsspec address.
        formats: Output formats: files of a folder, or texts of a row. Empty for all but chunks in
            folders, and for Markdown and JSON in rows.
        options: Choices for rendering.

    Raises:
        UnknownName: no sink, or no format, has this name.
        UsageError: what the sink or the address needs is not installed.
        NoSpace: the disk is full.
        OutputError: the place cannot be reached, or what is there cannot be read.
    """
    if kind not in SINKS:
        raise UnknownName(f"no sink is called {kind!r}", hint=f"Choose among {', '.join(SINKS)}")
    for name in formats:
        find_output(name)
    return SINKS[kind](root, tuple(dict.fromkeys(formats)), options)
