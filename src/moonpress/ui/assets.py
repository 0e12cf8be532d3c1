"""The page's own components: markup, styles and scripts of this package, put together.

Owns which files make which component. They need no tool to be built and fetch nothing from
elsewhere. Never knows what data they are given.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_READER = ("common.js", "reader_thumbs.js", "reader_sheet.js", "reader_text.js", "reader.js")


@cache
def reader() -> ComponentRenderer:
    """Pages, pictures and readings of one paper; given ``paper`` and ``engine``."""
    return _component("moonpress.reader", "reader.html", ("base.css", "reader.css"), _READER)


@cache
def comparison() -> ComponentRenderer:
    """Two readings of a page; given ``paper``, ``page``, ``left``, ``right``, ``start``."""
    styles, scripts = ("base.css", "compare.css"), ("common.js", "compare.js")
    return _component("moonpress.compare", "compare.html", styles, scripts)


@cache
def inbox() -> ComponentRenderer:
    """What is pasted; fires ``opened`` with a paper's id, or ``refused`` with a line."""
    return _component("moonpress.inbox", "inbox.html", ("inbox.css",), ("inbox.js",))


def _component(
    name: str, markup: str, styles: tuple[str, ...], scripts: tuple[str, ...]
) -> ComponentRenderer:
    return st.components.v2.component(
        name, html=_text(markup), css="".join(map(_text, styles)), js="".join(map(_text, scripts))
    )


def _text(name: str) -> str:
    return (files("moonpress.ui") / "static" / name).read_text(encoding="utf-8")
