"""Scores of one reading against its truth: text, tables, order.

Owns the formulas. All shares are 0 to 1; errors may exceed 1 when an engine invents much.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from types import FrameType

import jiwer
from apted import APTED, Config
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from moonpress.bench.markdown import Table, fold, plain_text

_FOUND = 75.0
_MIN_BLOCK = 12
_SECONDS_PER_TABLE = 60


def character_error(truth: str, markdown: str, *, script: str) -> float:
    """CER by jiwer; without any spaces for Chinese and Japanese."""
    wanted, found = plain_text(truth), plain_text(markdown)
    if script == "cjk":
        wanted, found = wanted.replace(" ", ""), found.replace(" ", "")
    return float(jiwer.cer(wanted, found)) if wanted else 0.0


def word_error(truth: str, markdown: str) -> float:
    """WER by jiwer."""
    wanted, found = plain_text(truth), plain_text(markdown)
    return float(jiwer.wer(wanted, found)) if wanted else 0.0


def order_score(blocks: Sequence[str], markdown: str) -> tuple[float, float]:
    """Kendall's tau of the blocks found, scaled to 0..1, and the share of blocks found.

    A block is found where a window of the output of its length resembles its beginning.
    """
    text = plain_text(markdown)
    places = []
    wanted = [fold(plain_text(b)) for b in blocks]
    wanted = [b[:120] for b in wanted if len(b) >= _MIN_BLOCK]
    for block in wanted:
        found = fuzz.partial_ratio_alignment(block, text, score_cutoff=_FOUND)
        if found is not None:
            places.append(found.dest_start)
    if len(wanted) < 2:
        return 1.0, 1.0
    share = len(places) / len(wanted)
    if len(places) < 2:
        return 0.0, share
    pairs = [(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    return sum(1 for a, b in pairs if a <= b) / len(pairs), share


def exact_cells(truth: Table, found: Table | None) -> float:
    """Share of the truth's cells whose row, column, spans and text are all right.

    White space inside a cell does not count: where a line broke is no longer known.
    """
    if found is None or not truth.cells:
        return 0.0
    there = {(c.row, c.column, c.row_span, c.column_span, _bare(c.text)) for c in found.cells}
    right = sum(
        (c.row, c.column, c.row_span, c.column_span, _bare(c.text)) in there for c in truth.cells
    )
    return right / len(truth.cells)


def pair_tables(truth: Sequence[Table], found: Sequence[Table]) -> list[Table | None]:
    """For each true table the found one that shares most words with it, each used once."""
    free = list(range(len(found)))
    pairs: list[Table | None] = []
    for table in truth:
        words = _bag(table)
        scored = [(len(words & _bag(found[i])), i) for i in free]
        best, index = max(scored, default=(0, -1))
        if best == 0:
            pairs.append(None)
            continue
        free.remove(index)
        pairs.append(found[index])
    return pairs


def teds(truth: Table, found: Table | None) -> float | None:
    """Tree edit similarity of two tables; ``None`` when it took too long.

    Source: Zhong, ShafieiBavani, Jimeno Yepes, Image-based table recognition, 2020. Own
    implementation on `apted`; heads and bodies are not told apart.
    """
    if found is None:
        return 0.0
    one, two = _tree(truth), _tree(found)
    size = max(one.size, two.size)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS_PER_TABLE)
    try:
        distance = float(APTED(one, two, _Costs()).compute_edit_distance())
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return max(0.0, 1 - distance / size)


class _Node:
    """A node as apted wants it: ``children`` and what the costs compare."""

    def __init__(self, tag: str, text: str = "") -> None:
        self.tag = tag
        self.text = text
        self.children: list[_Node] = []

    @property
    def size(self) -> int:
        return 1 + sum(child.size for child in self.children)


class _Costs(Config):  # type: ignore[misc]
    """Insertions and deletions cost 1, a changed cell by how much its text differs."""

    def rename(self, one: _Node, two: _Node) -> float:
        if one.tag != two.tag:
            return 1.0
        if not one.text and not two.text:
            return 0.0
        return float(Levenshtein.normalized_distance(one.text, two.text))

    def children(self, node: _Node) -> list[_Node]:
        return node.children


def _tree(table: Table) -> _Node:
    root = _Node("table")
    for row in range(table.rows):
        tr = _Node("tr")
        tr.children = [
            _Node(f"td {c.row_span} {c.column_span}", c.text) for c in table.cells if c.row == row
        ]
        root.children.append(tr)
    return root


def _bag(table: Table) -> set[str]:
    return {word for cell in table.cells for word in cell.text.split()}


def _bare(text: str) -> str:
    return "".join(text.split())
