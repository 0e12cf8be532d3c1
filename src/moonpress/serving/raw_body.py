"""The field of a chat request that asks for the model's own answer, found in the body's bytes.

Owns finding and removing it. Never parses the body: half a megabyte of picture passes untouched.
"""

from __future__ import annotations

import re

_NAME = b'"output_format"'
_FIELD = re.compile(rb'"output_format"\s*:\s*"raw"\s*')
# Strings are passed over as a whole, whatever they hold; brackets outside of them tell the depth.
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)


def without_raw_field(body: bytes) -> bytes | None:
    """The body without its own ``"output_format": "raw"``; ``None`` when it has no such field.

    Only the field of the outermost object counts. Nothing else of the body changes.
    """
    if _NAME not in body:
        return None
    field = _own_field(body)
    if field is None:
        return None
    start, end = field
    if body[end : end + 1] == b",":
        return body[:start] + body[end + 1 :]
    before = body[:start].rstrip()
    return before.removesuffix(b",") + body[end:]


def _own_field(body: bytes) -> tuple[int, int] | None:
    depth = 0
    for found in _STRUCTURE.finditer(body):
        sign = found[0]
        if sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
        elif depth == 1 and sign == _NAME:
            field = _FIELD.match(body, found.start())
            if field is not None:
                return field.span()
    return None
