"""Whether a model that is writing has fallen into a loop.

Owns the detection while the text still comes in, and where the clean part ends. Never stops a model
and never looks at pictures.

A loop is a tail that repeats with a period. Runs of digits count as equal at first, so that a loop
whose numbers change is found too; then the numbers decide. Numbers that stay, or grow by the same
step each time, make a loop; others make a table or a list of contents. What carries no words (rows
of empty cells, leaders, rules) repeats on real pages as well and is given far more room.

Cost: the text is looked at once, when it comes; each look at the tail is a few searches and
comparisons of slices, all of them in C.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from operator import sub

_EVERY = 12  # tokens between two looks at the tail
_ANCHOR = 12  # characters at the end whose earlier places tell possible periods
_WINDOW = 12_000  # characters that are looked back at
_LONGEST_PERIOD = 3_000
_CANDIDATES = 12
_LONG_LABEL = (
    12  # characters from which a block's text does not stand on a page many times in a row
)
_FEW_COPIES = 4
_LONGEST_NUMBER = 300  # digits; no number on a page is longer

_NUMBER = re.compile(r"\d+")
_TAG = re.compile(r"<[^<>]*>|&#?\w+;")
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BOX = re.compile(r'data-bbox="[^"]*"')


@dataclass(frozen=True, slots=True)
class _Bound:
    """From how many copies, and how many tokens in them, a repetition is a loop."""

    copies: int
    tokens: int


# Long phrases need fewer copies than short ones.
_SAME_WORDS = _Bound(4, 100)
_SAME_LONG_WORDS = _Bound(3, 150)
_SAME_CELLS = _Bound(6, 140)
_COUNTING = _Bound(8, 120)
_MOVING = _Bound(4, 140)
_NO_WORDS = _Bound(100, 2_000)


class _Change(Enum):
    """What the numbers do from copy to copy."""

    NONE = "none"
    BOXES = "boxes"
    COUNTING = "counting"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that was found.

    Attributes:
        clean_end: Index in the text where its first copy ends: what stands before may be kept.
        what: What repeats, shortened, for people.
    """

    clean_end: int
    what: str


class LoopWatch:
    """Looks for loops in what it is fed; one for each reply."""

    def __init__(self) -> None:
        self._raw = ""
        self._pieces: list[str] = []
        # The text with each run of digits as one "0", up to where it is certain.
        self._even = ""
        self._taken = 0
        self._numbers: list[int] = []
        self._tokens = 0
        self._looked = 0
        # After each feed: characters of the even text, tokens.
        self._lengths: list[int] = [0]
        self._counts: list[int] = [0]

    def feed(self, text: str, tokens: int) -> Loop | None:
        """Take the next piece of the reply; tells of a loop as soon as there is one."""
        self._pieces.append(text)
        self._tokens += tokens
        if self._tokens - self._looked < _EVERY:
            return None
        self._looked = self._tokens
        self._raw += "".join(self._pieces)
        self._pieces.clear()
        self._take()
        digits = len(self._raw) - self._taken
        if digits > _LONGEST_NUMBER:
            return Loop(self._taken, self._raw[self._taken :][:20])
        return self._look()

    def _take(self) -> None:
        """Bring the even text up to date; digits at the end wait for the rest of their number."""
        end = len(self._raw)
        while end > self._taken and self._raw[end - 1].isdigit():
            end -= 1
        piece = self._raw[self._taken : end]
        self._taken = end
        self._numbers += [int(number[-18:]) for number in _NUMBER.findall(piece)]
        self._even += _NUMBER.sub("0", piece)
        self._lengths.append(len(self._even))
        self._counts.append(self._tokens)

    def _look(self) -> Loop | None:
        text, end = self._even, len(self._even)
        anchor = text[-_ANCHOR:]
        start = max(end - _LONGEST_PERIOD - _ANCHOR, 0)
        before = end - 1
        for _ in range(_CANDIDATES):
            place = text.rfind(anchor, start, before)
            if place < 0:
                return None
            period = end - _ANCHOR - place
            first = end - 3 * period
            if first < 0 or text[end - 2 * period :] != text[first : end - period]:
                before = place + _ANCHOR - 1
                continue
            same = _common_suffix(text, end, end - period)
            loop = self._judge(period, same)
            if loop is not None:
                return loop
            # Within what repeats, the next places only tell multiples of this period.
            before = min(place, end - same) + _ANCHOR - 1
        return None

    def _judge(self, period: int, same: int) -> Loop | None:
        """Whether ``same`` characters at the end, which repeat with ``period``, are a loop."""
        end = len(self._even)
        # Copies are taken from tag to tag where there are tags, so that none is cut in two.
        shift = self._even[end - period :].find("<")
        rest = period - shift if shift > 0 else 0
        end, same = end - rest, same - rest
        copies = same // period + 1
        phrase = self._even[end - period : end]
        bound = _bound(phrase)
        tokens = self._tokens - self._tokens_at(end - same - period)
        if copies < min(bound.copies, _MOVING.copies) or tokens < bound.tokens:
            return None
        change = self._change(phrase, end, copies)
        if change is _Change.FREE:
            return None
        if change is not _Change.NONE:
            long = len(_TAG.sub("", phrase)) >= _LONG_LABEL
            other = _MOVING if change is _Change.BOXES and long else _COUNTING
            bound = _Bound(max(bound.copies, other.copies), max(bound.tokens, other.tokens))
        if copies < bound.copies or tokens < bound.tokens:
            return None
        # For people, from the beginning of a word.
        space = phrase.find(" ") + 1
        shown = _TAG.sub(" ", phrase[space:] + phrase[:space])
        return Loop(self._clean_end(end - same), " ".join(shown.split())[:60])

    def _change(self, phrase: str, end: int, copies: int) -> _Change:
        """What the numbers do in the copies of ``phrase`` before ``end``."""
        boxes = [match.span() for match in _BOX.finditer(phrase)]
        slots = [match.start() for match in _NUMBER.finditer(phrase)]
        if not slots:
            return _Change.NONE
        width = len(slots)
        until = len(self._numbers) - len(_NUMBER.findall(self._even[end:]))
        boxed = [any(first <= slot < last for first, last in boxes) for slot in slots]
        # A few copies tell that a table is one.
        for some in (min(copies, _FEW_COPIES), copies):
            change = _change_of(self._numbers[until - width * some : until], boxed)
            if change is _Change.FREE:
                break
        return change

    def _tokens_at(self, index: int) -> int:
        """How many tokens had been written at that character of the even text, or a few less."""
        return self._counts[max(bisect_left(self._lengths, index + 1) - 1, 0)]

    def _clean_end(self, even_end: int) -> int:
        """Where that index of the even text is in the raw one, moved back to the end of a word."""
        raw = even = 0
        for match in _NUMBER.finditer(self._raw):
            gap = match.start() - raw
            if even + gap >= even_end:
                break
            even += gap + 1
            raw = match.end()
        end = min(raw + max(even_end - even, 0), len(self._raw))
        kept = self._raw[:end]
        opened, closed = kept.rfind("<"), kept.rfind(">")
        if opened > closed:
            return opened
        return max(closed + 1, kept.rfind(" ")) if end < len(self._raw) else end


def _change_of(numbers: list[int], boxed: list[bool]) -> _Change:
    """What columns of numbers do; ``boxed`` tells which of them belong to a box."""
    change = _Change.NONE
    width = len(boxed)
    for column, in_box in enumerate(boxed):
        values = numbers[column::width]
        steps = set(map(sub, values[1:], values))
        if steps <= {0}:
            continue
        if in_box:
            # Boxes move over the page without pattern.
            change = change if change is _Change.COUNTING else _Change.BOXES
        elif len(steps) > 1:
            return _Change.FREE
        else:
            change = _Change.COUNTING
    return change


def _bound(phrase: str) -> _Bound:
    if not _WORD.search(_TAG.sub(" ", phrase)):
        return _NO_WORDS
    if "</td>" in phrase:
        return _SAME_CELLS
    return _SAME_LONG_WORDS if len(phrase) >= 150 else _SAME_WORDS


def _common_suffix(text: str, one: int, other: int) -> int:
    """How many characters before ``one`` and before ``other`` are the same."""
    low, high = 0, min(other, _WINDOW)
    while low < high:
        middle = (low + high + 1) // 2
        if text[one - middle : one] == text[other - middle : other]:
            low = middle
        else:
            high = middle - 1
    return low
