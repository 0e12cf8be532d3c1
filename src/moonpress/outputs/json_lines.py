"""One JSON object on one line.

Owns what "one line" means: no reader may break it, and some break lines at more than line feeds.
Never knows what the object says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

# What Unicode counts as a line break beyond those that JSON escapes by itself.
_BREAKS: Final = re.compile("[\x85\u2028\u2029]")


def json_line(row: Mapping[str, Any]) -> str:
    """``row`` as JSON with a line feed at its end and no other line break in it."""
    text = orjson.dumps(row).decode()
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
