"""Moonpress: papers, scans and photographed pages into Markdown, HTML and JSON.

Owns the public names. They are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moonpress.api import convert, convert_async
    from moonpress.document import (
        BBox,
        Block,
        BlockKind,
        Document,
        Page,
        PageStatus,
        Problem,
        RenderOptions,
    )
    from moonpress.engines.chandra.engine import ChandraVLLMEngine
    from moonpress.engines.hf.engine import ChandraHFEngine
    from moonpress.errors import MoonpressError

__all__ = [
    "BBox",
    "Block",
    "BlockKind",
    "ChandraHFEngine",
    "ChandraVLLMEngine",
    "Document",
    "MoonpressError",
    "Page",
    "PageStatus",
    "Problem",
    "RenderOptions",
    "convert",
    "convert_async",
]

_HOMES = {
    "ChandraHFEngine": "engines.hf.engine",
    "ChandraVLLMEngine": "engines.chandra.engine",
    "MoonpressError": "errors",
    "convert": "api",
    "convert_async": "api",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "document")
    return getattr(import_module(f"moonpress.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
