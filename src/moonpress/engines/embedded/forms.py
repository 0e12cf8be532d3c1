"""Forms: labels with their answers, and check boxes.

Owns telling which lines of a page make a form, and its HTML. Never looks at pixels, and leaves a
lone field in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from moonpress.document import BlockKind
from moonpress.engines.embedded.checkboxes import EMPTY, MARKED
from moonpress.engines.embedded.drafts import Draft, around, rows_of, same_row
from moonpress.engines.embedded.types import Box, Line

_LABEL = re.compile(r"[^\W\d_].*[:\uff1a]$")
_BOX = re.compile(f"([{EMPTY}{MARKED}])")
_INPUTS = {
    EMPTY: '<input type="checkbox">',
    MARKED: '<input type="checkbox" checked>',
}
_FEWEST = 2  # fields of a form
_LONGEST = 60  # characters of a label
# In line heights.
_APART = 4.0  # how far down the next field may be
_FAR = 16.0  # how far right of its label an answer may begin
_ALIGNED = 0.5  # how exactly answers begin under each other
_UNDER = 0.8  # how far under an answer its ruling may be
_RULED = 3.0  # length of a ruling that is to be written on


@dataclass(frozen=True, slots=True)
class _Field:
    """A row of a form: lines from left to right; ``blank`` where nobody has answered."""

    lines: tuple[Line, ...]
    blank: bool = False

    @property
    def box(self) -> Box:
        return around(line.box for line in self.lines)


def find_forms(
    lines: Sequence[Line], rulings: Sequence[Box]
) -> tuple[tuple[Draft, ...], tuple[Line, ...]]:
    """Forms, and the lines that belong to none.

    Args:
        lines: Of the body of a page.
        rulings: Straight lines drawn on it.
    """
    fields = sorted(_fields(lines, rulings), key=lambda field: field.box.y0)
    groups: list[list[_Field]] = []
    for field in fields:
        last = groups[-1][-1] if groups else None
        if last is not None and _follows(last, field, lines):
            groups[-1].append(field)
        else:
            groups.append([field])
    forms = [group for group in groups if len(group) >= _FEWEST]
    taken = {id(line) for group in forms for field in group for line in field.lines}
    drafts = tuple(_draft(group) for group in forms)
    return drafts, tuple(line for line in lines if id(line) not in taken)


def _fields(lines: Sequence[Line], rulings: Sequence[Box]) -> list[_Field]:
    fields = [_Field(row) for row in rows_of([x for x in lines if _BOX.search(x.text)])]
    written = [f for line in lines if (f := _written(line, lines, rulings)) is not None]
    starts = [f.lines[1].box.x0 for f in written if len(f.lines) == 2]
    for field in written:
        height = field.lines[0].box.height
        alike = len(field.lines) == 1 or _ruling_under(field.lines[1].box, height, rulings)
        if alike or _aligned(field, starts, height) >= _FEWEST:
            fields.append(field)
    return fields


def _aligned(field: _Field, starts: Sequence[float], height: float) -> int:
    return sum(abs(x - field.lines[1].box.x0) < _ALIGNED * height for x in starts)


def _written(label: Line, lines: Sequence[Line], rulings: Sequence[Box]) -> _Field | None:
    """A label with the one answer right of it, or with a ruling where an answer should be."""
    text = label.text.strip()
    if not _LABEL.match(text) or len(text) > _LONGEST or _BOX.search(text):
        return None
    height = label.box.height
    row = [x for x in lines if x is not label and same_row(x.box, label.box)]
    right = [x for x in row if x.box.x0 > label.box.x1]
    near = [x for x in right if x.box.x0 - label.box.x1 < _FAR * height]
    if len(right) == 1 and len(near) == 1 and not _LABEL.match(right[0].text.strip()):
        return _Field((label, right[0]))
    place = Box(label.box.x1, label.box.y0, label.box.x1 + _FAR * height, label.box.y1)
    if not right and _ruling_under(place, height, rulings):
        return _Field((label,), blank=True)
    return None


def _ruling_under(place: Box, height: float, rulings: Sequence[Box]) -> bool:
    return any(
        r.width > _RULED * height > 3 * r.height
        and -0.3 * height < r.y0 - place.y1 < _UNDER * height
        and min(r.x1, place.x1) - max(r.x0, place.x0) > 0.5 * min(r.width, place.width)
        for r in rulings
    )


def _follows(last: _Field, field: _Field, lines: Sequence[Line]) -> bool:
    """Whether a field stands under the last one, with nothing else between."""
    height = field.lines[0].box.height
    if field.box.y0 - last.box.y1 > _APART * height:
        return False
    if abs(field.box.x0 - last.box.x0) > 3 * height:
        return False
    own = {id(line) for part in (last, field) for line in part.lines}
    return not any(
        last.box.y0 < line.box.y0 < field.box.y0
        and line.box.x0 < field.box.x1
        and line.box.x1 > field.box.x0
        for line in lines
        if id(line) not in own
    )


def _draft(fields: Sequence[_Field]) -> Draft:
    html = "".join(f"<p>{_html(field)}</p>" for field in fields)
    rows = tuple(field.lines for field in fields)
    return Draft(BlockKind.FORM, around(field.box for field in fields), rows, html=html)


def _html(field: _Field) -> str:
    text = " ".join(line.text.strip() for line in field.lines)
    parts = (_INPUTS.get(part, escape(part, quote=False)) for part in _BOX.split(text))
    return "".join(parts) + (' <input type="text">' if field.blank else "")
