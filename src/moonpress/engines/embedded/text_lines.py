"""Lines of text from the characters of a PDF page.

Owns how characters become words and words become lines that stay inside one column or one table
cell. Never judges whether the text layer is right, never orders lines.

The rule that keeps columns apart: a gap wider than a word space ends a line when the rows above and
below are white at the same place, as they are at a gutter or between table columns, and as they
are not between the stretched words of a justified line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from unicodedata import combining

import numpy as np
import numpy.typing as npt

from moonpress.document import TextLayer, TextOrigin
from moonpress.engines.embedded.glyphs import Floats, Glyphs, glyphs_of
from moonpress.engines.embedded.text_rows import Span, is_capital, split_rows
from moonpress.engines.embedded.turning import turn_boxes
from moonpress.engines.embedded.types import Box, Line, Word

Indices = npt.NDArray[np.intp]

_CJK = re.compile(r"[\u2e80-\u312f\u31f0-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_LEFTWARD = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]")

# A row whose letters show how they are spaced has this many; in letter sizes, how evenly they stand
# then, and how wide a space is at least.
_LONG_ROW = 12
_EVEN = 0.025
_SQUEEZED = 0.1
_INITIAL = 0.42  # size of letters beside a drop capital, at most, in its own


def lines_of_layer(
    layer: TextLayer,
    boxes: Floats,
    rulings: Sequence[Box],
    *,
    width: int,
    height: int,
    dpi: float,
) -> tuple[Line, ...]:
    """Group a text layer into lines.

    Text that runs in another direction than the page, such as a stamp up the margin, comes back as
    lines of its own with tall boxes.

    Args:
        layer: The characters.
        boxes: (N, 4) their boxes in pixels of the upright page.
        rulings: Drawn lines in pixels; text never runs on through an upright one.
        width: Width of the upright page in pixels.
        height: Height of the upright page in pixels.
        dpi: Pixels per inch.
    """
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    on_page = (centre >= 0).all(axis=1) & (centre[:, 0] <= width) & (centre[:, 1] <= height)
    lines: list[Line] = []
    quarters = np.round(layer.angles / 90).astype(int) % 4 * 90
    for quarter in np.unique(quarters[on_page]):
        chosen = np.flatnonzero(on_page & (quarters == quarter))
        back = int((360 - quarter) % 360)
        upright = turn_boxes(boxes[chosen], back, width, height)
        glyphs = glyphs_of(layer, chosen, upright, dpi)
        if not glyphs.texts:
            continue
        walls = [r for r in rulings if r.height > r.width] if quarter == 0 else []
        made = _lines_of_glyphs(glyphs, layer, walls)
        if quarter:
            across, down = (height, width) if back in (90, 270) else (width, height)
            made = [_turned(line, int(quarter), across, down) for line in made]
        lines.extend(made)
    return tuple(lines)


def _lines_of_glyphs(glyphs: Glyphs, layer: TextLayer, walls: Sequence[Box]) -> list[Line]:
    starts = _word_starts(glyphs)
    ends = np.append(starts[1:], len(glyphs.texts))
    left = np.minimum.reduceat(glyphs.boxes[:, :2], starts, axis=0)
    right = np.maximum.reduceat(glyphs.boxes[:, 2:], starts, axis=0)
    sizes = np.maximum.reduceat(glyphs.sizes, starts)
    # The baseline of a word is that of its large letters; exponents stand elsewhere.
    large = glyphs.sizes >= np.repeat(sizes, ends - starts) * 0.9
    weight = np.add.reduceat(large.astype(np.float32), starts)
    bases = np.add.reduceat(np.where(large, glyphs.bases, 0), starts) / weight
    spans = [
        Span(x0, y0, x1, y1, size, base, _word(glyphs, s, e), s, e, spaced)
        for (x0, y0), (x1, y1), size, base, s, e, spaced in zip(
            left.tolist(),
            right.tolist(),
            sizes.tolist(),
            bases.tolist(),
            starts.tolist(),
            ends.tolist(),
            glyphs.spaced[starts].tolist(),
            strict=True,
        )
    ]
    return [_line(row, glyphs, layer) for row in split_rows(spans, walls)]


def _word(glyphs: Glyphs, start: int, end: int) -> str:
    """Text of a word; Arabic and Hebrew that is stored from left to right is turned about."""
    texts = glyphs.texts[start:end]
    leftward = glyphs.leftward[start:end]
    if len(texts) < 2 or not leftward.any():
        return "".join(texts)
    letters = np.flatnonzero(leftward)
    steps = np.diff(glyphs.boxes[start:end][letters, 2])
    if (steps > 0).sum() <= (steps < 0).sum():
        return "".join(texts)
    clusters: list[str] = []
    for text in texts:
        if clusters and combining(text[0]):
            clusters[-1] += text
        else:
            clusters.append(text)
    return "".join(reversed(clusters))


def _word_starts(glyphs: Glyphs) -> Indices:
    """Index of the first glyph of each word, in content order."""
    boxes, sizes = glyphs.boxes, glyphs.sizes
    big = np.maximum(sizes[1:], sizes[:-1])
    small = np.minimum(sizes[1:], sizes[:-1])
    rightward = boxes[1:, 0] - boxes[:-1, 2]
    leftward = boxes[:-1, 0] - boxes[1:, 2]
    turned = glyphs.leftward[1:] | glyphs.leftward[:-1]
    gap = np.where(turned & (np.abs(leftward) < np.abs(rightward)), leftward, rightward)
    shift = np.abs(np.diff(glyphs.bases))
    level = shift < np.where(turned, 0.6, 0.33) * small
    # An exponent or index is smaller, off the baseline, and close.
    # What is smaller still stands beside a drop capital.
    capital = np.fromiter(map(is_capital, glyphs.texts), np.bool_, len(glyphs.texts))
    larger = np.where(sizes[1:] > sizes[:-1], capital[1:], capital[:-1])
    alike = ~larger | (small > _INITIAL * big)
    script = alike & (small < 0.87 * big) & (shift < 0.62 * big) & (gap < 0.3 * big)
    inked = gap < 0.05 * big
    spaced = glyphs.spaced[1:] & ~(inked & (gap > -0.3 * big))
    away = (gap < -0.7 * big) | ~(level | script)
    new = spaced | (gap > 0.27 * big) | away | _squeezed((gap / big).astype(np.float32), away)
    return np.concatenate([[0], np.flatnonzero(new) + 1])


def _squeezed(gaps: Floats, away: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Word spaces that were squeezed to fit a narrow column, which files may not have as spaces.

    They show where all letters of a row stand at one distance, and a few do not.

    Args:
        gaps: (N - 1,) white between neighbours, in letter sizes.
        away: (N - 1,) whether the second of them stands in another row or place.
    """
    result = np.zeros(len(gaps), dtype=np.bool_)
    edges = np.concatenate([[-1], np.flatnonzero(away), [len(gaps)]])
    for start, end in pairwise(edges.tolist()):
        row = gaps[start + 1 : end]
        if len(row) < _LONG_ROW:
            continue
        usual = float(np.median(row))
        off = np.abs(row - usual)
        if np.quantile(off, 0.7) < _EVEN:
            result[start + 1 : end] = row - usual > _SQUEEZED
    return result


def _line(row: list[Span], glyphs: Glyphs, layer: TextLayer) -> Line:
    ordered = _reading_order(row)
    index = np.concatenate([np.arange(s.start, s.end) for s in ordered])
    fonts = glyphs.fonts[index]
    known = fonts[fonts >= 0]
    counts = np.bincount(known, minlength=len(layer.fonts)) if len(known) else None

    def mostly(flags: list[bool]) -> bool:
        return counts is not None and int(counts[flags].sum()) * 2 > len(index)

    words = tuple(Word(Box(s.x0, s.y0, s.x1, s.y1), s.text) for s in ordered)
    return Line(
        box=Box(
            min(s.x0 for s in row),
            min(s.y0 for s in row),
            max(s.x1 for s in row),
            max(s.y1 for s in row),
        ),
        text=join_words(ordered),
        origin=TextOrigin.TEXT_LAYER,
        size=float(np.median(glyphs.sizes[index])),
        bold=mostly([f.bold for f in layer.fonts]),
        italic=mostly([f.italic for f in layer.fonts]),
        mono=mostly([f.mono for f in layer.fonts]),
        words=words,
    )


def join_words(row: Sequence[Span]) -> str:
    """Text of a line; no space where Chinese or Japanese characters meet closely."""
    parts = [row[0].text]
    for before, after in pairwise(row):
        gap = max(after.x0 - before.x1, before.x0 - after.x1)
        size = max(before.size, after.size)
        eastern = _CJK.match(before.text[-1]) and _CJK.match(after.text[0])
        touching = not after.spaced and gap < 0.12 * size
        if not (touching or (eastern and gap < 0.6 * size)):
            parts.append(" ")
        parts.append(after.text)
    return "".join(parts)


def _reading_order(row: list[Span]) -> list[Span]:
    """Words of a row as they are read: right to left for Arabic and Hebrew, numbers kept."""
    text = "".join(span.text for span in row)
    if len(_LEFTWARD.findall(text)) <= len(_LATIN.findall(text)):
        return row
    result: list[Span] = []
    forward: list[Span] = []
    for span in reversed(row):
        if _LEFTWARD.search(span.text):
            result.extend(reversed(forward))
            forward = []
            result.append(span)
        else:
            forward.append(span)
    return result + forward[::-1]


def _turned(line: Line, quarter: int, width: float, height: float) -> Line:
    """The line with its boxes turned back from its own upright frame to the page's."""

    def box(given: Box) -> Box:
        array = np.array([given], dtype=np.float32)
        return Box(*turn_boxes(array, quarter, width, height)[0].tolist())

    return Line(
        box=box(line.box),
        text=line.text,
        origin=line.origin,
        size=line.size,
        bold=line.bold,
        italic=line.italic,
        mono=line.mono,
        words=tuple(Word(box(word.box), word.text) for word in line.words),
    )
