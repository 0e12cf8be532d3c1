"""Plain text inside Markdown: backslashes where a renderer would see markup, and nowhere else.

Owns the escaping rules of CommonMark with GitHub's tables, strike-through and dollar formulas.
Never sees HTML: see `inline`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import Final

# Stands for a piece of the paragraph that is no plain text: what touches it may be markup.
OTHER: Final = "\0"

_ASCII_PUNCTUATION: Final = r"!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~"

_BACKSLASH: Final = re.compile(rf"\\(?=[{_ASCII_PUNCTUATION}]|$)")
_TAG_START: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=([A-Za-z][A-Za-z0-9]*;)|#[0-9]+;|#[xX][0-9A-Fa-f]+;)")
_RUN: Final = re.compile(r"\*+|_+|~+|`+")

# A line that would start a heading, a quote, a fence, a link definition or a list.
_LINE_START: Final = re.compile(r"#{1,6}(?=\s|$)|>|```|~~~|\[[^\]]+\]:|[-+*](?=\s|$)")
_NUMBER_START: Final = re.compile(r"(\d{1,9})([.)](?=\s|$))")
_THEMATIC: Final = re.compile(r"([-_*])(?:\s*\1){2,}\s*$")
# Under another line: a heading's underline, or the second row of a table.
_UNDERLINE: Final = re.compile(r"(?:=+|[-:|\s]*-[-:|\s]*)$")
_TASK_START: Final = re.compile(r"\[[ xX]\](?=\s|$)")
_CLOSING_HASHES: Final = re.compile(r"(?:(?<=\s)|^)(?=#+\s*$)")


def is_punctuation(char: str) -> bool:
    """Whether CommonMark counts ``char`` as punctuation (symbols included, since 0.31)."""
    return unicodedata.category(char)[0] in "PS"


@dataclass(frozen=True, slots=True)
class Flanks:
    """What a run of delimiters can do between two characters (empty at an end of the text)."""

    before: str
    after: str

    @property
    def left(self) -> bool:
        """Whether the run is left-flanking: it may open."""
        return self._attached(self.after, self.before)

    @property
    def right(self) -> bool:
        """Whether the run is right-flanking: it may close."""
        return self._attached(self.before, self.after)

    @staticmethod
    def _attached(inner: str, outer: str) -> bool:
        if OTHER in {inner, outer}:
            return True
        if not inner or inner.isspace():
            return False
        return not is_punctuation(inner) or not outer or outer.isspace() or is_punctuation(outer)


def special_characters(text: str, *, emphasis: bool, code: bool, math: bool) -> frozenset[str]:
    """Which of the characters ``* _ ~ ` $`` would pair up to markup somewhere in ``text``.

    Args:
        text: All plain text of one paragraph, with `OTHER` for the pieces between.
        emphasis: The paragraph has emphasis of its own, so that a stray mark could join it.
        code: The paragraph has code spans of its own.
        math: The paragraph has other dollars: around formulas, or in code.
    """
    found = {mark for mark in "*_~" if _pairs_up(text, mark)}
    if emphasis:
        found |= {"*", "~"}
    lengths = [len(run[0]) for run in re.finditer("`+", text)]
    if len(lengths) != len(set(lengths)) or (code and lengths):
        found.add("`")
    dollars = text.count("$")
    if dollars > 1 or (math and dollars):
        found.add("$")
    return frozenset(found)


def escape_text(text: str, special: Collection[str], *, cell: bool, link: bool) -> str:
    """``text`` so that a renderer shows it as it is, apart from starts of lines.

    Args:
        text: A piece of plain text without line breaks.
        special: From `special_characters` of the whole paragraph.
        cell: The text stands in a cell of a pipe table.
        link: The text stands between the brackets of a link.
    """
    text = _BACKSLASH.sub(r"\\\\", text)
    text = _TAG_START.sub(r"\\<", text)
    text = _ENTITY.sub(lambda m: r"\&" if m[1] is None or m[1] in html5 else "&", text)
    text = re.sub(r"[\[\]]", r"\\\g<0>", text) if link else re.sub(r"\](?=\()", r"\\]", text)
    text = _escape_runs(text, special)
    if "$" in special:
        text = text.replace("$", r"\$")
    return text.replace("|", r"\|") if cell else text


def escape_line_start(line: str, *, first: bool, item: bool) -> str:
    """``line``, already escaped otherwise, so that it starts no block.

    Args:
        line: One line of a paragraph that begins with plain text.
        first: It is the paragraph's first line.
        item: The paragraph opens a list item.
    """
    number = _NUMBER_START.match(line)
    if number:
        return f"{number[1]}\\{line[number.end(1) :]}"
    looks_like_block = (
        _LINE_START.match(line)
        or _THEMATIC.match(line)
        or (not first and _UNDERLINE.match(line))
        or (item and first and _TASK_START.match(line))
    )
    return f"\\{line}" if looks_like_block else line


def escape_heading(line: str) -> str:
    """A heading's text, already escaped otherwise, so that hashes at its end stay."""
    return _CLOSING_HASHES.sub(r"\\", line, count=1)


def _pairs_up(text: str, mark: str) -> bool:
    """Whether some run of ``mark`` could open and a later one close."""
    opened = False
    for flanks in _runs(text, mark):
        opens, closes = flanks.left, flanks.right
        if mark == "_" and flanks.before.isalnum() and flanks.after.isalnum():
            continue
        if closes and opened:
            return True
        opened = opened or opens
    return False


def _runs(text: str, mark: str) -> Iterator[Flanks]:
    for run in re.finditer(rf"{re.escape(mark)}+", text):
        yield Flanks(text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1])


def _escape_runs(text: str, special: Collection[str]) -> str:
    """Escape runs that can open or close; one between spaces, or in a word for ``_``, cannot."""

    def replace(run: re.Match[str]) -> str:
        mark = run[0][0]
        if mark not in special:
            return run[0]
        before = text[run.start() - 1 : run.start()]
        after = text[run.end() : run.end() + 1]
        if mark != "`" and before.isspace() and after.isspace():
            return run[0]
        if mark == "_" and before.isalnum() and after.isalnum():
            return run[0]
        return "".join(f"\\{char}" for char in run[0])

    return _RUN.sub(replace, text)
