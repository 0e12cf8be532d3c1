"""Drop capitals: a large first letter beside the first lines of a paragraph.

Owns putting the letter back in front of its word. Never touches other lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from moonpress.engines.embedded.types import Box, Line

_QUOTES = "\"'\u201c\u2018\u00ab "


def restore_drop_capitals(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The same lines, with each drop capital put in front of the line that it begins.

    The lines beside the letter are widened to its left side, so that they do not look indented.
    """
    result = list(lines)
    for capital in lines:
        if not capital.text.strip(_QUOTES).isupper() or len(capital.text.strip(_QUOTES)) != 1:
            continue
        beside = [k for k, line in enumerate(result) if _stands_beside(line, capital)]
        if not beside:
            continue
        first = min(beside, key=lambda k: result[k].box.y0)
        if not result[first].text[:1].isalpha():
            continue
        for k in beside:
            box = result[k].box
            result[k] = replace(result[k], box=Box(capital.box.x0, box.y0, box.x1, box.y1))
        result[first] = replace(result[first], text=capital.text.strip() + result[first].text)
        result.remove(capital)
    return tuple(result)


def _stands_beside(line: Line, capital: Line) -> bool:
    box, height = line.box, line.box.height
    if capital.box.height < 1.6 * height or len(line.text) < 5:
        return False
    middle = (box.y0 + box.y1) / 2
    gap = box.x0 - capital.box.x1
    return capital.box.y0 < middle < capital.box.y1 and -0.5 * height < gap < 1.2 * height
