"""Sinks by name.

Owns the list. Never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from moonpress.batch.sinks.base import Sink
from moonpress.batch.sinks.folder import FolderSink
from moonpress.document import RenderOptions
from moonpress.errors import UnknownName

Factory = Callable[[str, Sequence[str], RenderOptions], Sink]


def _folder(root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    return FolderSink(Path(root), formats, options)


SINKS: Final[Mapping[str, Factory]] = MappingProxyType({"folder": _folder})


def make_sink(kind: str, root: str, formats: Sequence[str], options: RenderOptions) -> Sink:
    """Make the sink called ``kind``.

    Raises:
        UnknownName: no sink has this name.
    """
    if kind not in SINKS:
        raise UnknownName(f"no sink is called {kind!r}", hint=f"Choose among {', '.join(SINKS)}")
    return SINKS[kind](root, formats, options)
