"""Numbers that count the lines of a page, in its margin or its gutter: patents, pleadings, drafts.

Owns telling them from other numbers. Never looks at anything but numbers and their places.

They stand under each other and grow evenly with the way down the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from moonpress.engines.embedded.drafts import around
from moonpress.engines.embedded.types import Box, Line, Word

_FEWEST = 4
_FEWEST_BY_ONE = 10  # where each line is numbered: fewer may be the points of a list
_EVEN = 0.85  # share of the numbers that must fit
_STRAY = 0.35  # of a step, that a number that fits may be off
_ALIGNED = 1.2  # heights across which their middles spread


@dataclass(frozen=True, slots=True)
class _Count:
    """A column of line numbers: value = slope * middle + start, for pixels down the page."""

    left: float
    right: float
    slope: float
    start: float
    step: float

    def fits(self, word: Word) -> bool:
        """Whether a word of a longer line is one of the numbers."""
        if not word.text.isdecimal() or len(word.text) > 3:
            return False
        across = self.left - word.box.height < _centre(word.box) < self.right + word.box.height
        return across and abs(self._at(word.box) - int(word.text)) < _STRAY * self.step

    def _at(self, box: Box) -> float:
        return self.slope * _middle(box) + self.start


def take_line_numbers(lines: Sequence[Line]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """The line numbers among ``lines``, and the lines without them."""
    numbers = [x for x in lines if x.text.strip().isdecimal() and len(x.text.strip()) <= 3]
    numbers.sort(key=lambda line: _centre(line.box))
    taken: list[Line] = []
    rest = list(lines)
    while len(numbers) >= _FEWEST:
        reach = _centre(numbers[0].box) + _ALIGNED * numbers[0].box.height
        column = [line for line in numbers if _centre(line.box) <= reach]
        numbers = numbers[len(column) :]
        count = _count(column)
        if count is not None:
            taken += column
            gone = {id(line) for line in column}
            rest = [_without(line, count) for line in rest if id(line) not in gone]
    return tuple(taken), tuple(rest)


def _count(column: Sequence[Line]) -> _Count | None:
    """What the numbers of a column count, if they count evenly."""
    ordered = sorted(column, key=lambda line: line.box.y0)
    values = np.array([int(line.text) for line in ordered], dtype=float)
    places = np.array([_middle(line.box) for line in ordered])
    steps = np.diff(values)
    step = float(steps.min(initial=np.inf))
    enough = len(column) >= (_FEWEST if step > 1 else _FEWEST_BY_ONE)
    if not enough or step <= 0 or (np.diff(places) <= 0).any():
        return None
    slope = median((steps / np.diff(places)).tolist())
    start = median((values - slope * places).tolist())
    fitting = np.abs(slope * places + start - values) < _STRAY * step
    if slope <= 0 or fitting.mean() < _EVEN:
        return None
    box = around(line.box for line in column)
    return _Count(box.x0, box.x1, float(slope), float(start), step)


def _without(line: Line, count: _Count) -> Line:
    """The line less a number that was read as its first or last word."""
    words = line.words
    if len(words) > 1 and count.fits(words[0]):
        words = words[1:]
    elif len(words) > 1 and count.fits(words[-1]):
        words = words[:-1]
    if words is line.words:
        return line
    box = around(word.box for word in words)
    return replace(line, box=box, text=" ".join(word.text for word in words), words=words)


def _centre(box: Box) -> float:
    return (box.x0 + box.x1) / 2


def _middle(box: Box) -> float:
    return (box.y0 + box.y1) / 2
