"""Parsing: what models write, into blocks."""

from moonpress.parsing.layout import LayoutParser, parse_layout

__all__ = ["LayoutParser", "parse_layout"]
