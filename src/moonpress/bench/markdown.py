"""Markdown of any engine, taken apart into plain text and tables.

Owns the parsing and the folding that makes texts comparable: the same for truth and for output, so
that typography (quotes, dashes, ligatures, width forms) and markup neither help nor harm.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass

from lxml import html as lxml_html

_HTML_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL | re.IGNORECASE)
_PIPE_ROW = re.compile(r"^\s*\|.*\|\s*$")
_PIPE_RULE = re.compile(r"^\s*\|(\s*:?-+:?\s*\|)+\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"(?<!\\)\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•▪–◦]|\d{1,3}[.)])\s+", re.MULTILINE)
_HEADING_MARK = re.compile(r"^\s*#{1,6}\s+", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~).*$", re.MULTILINE)
_RULE_LINE = re.compile(r"^\s*(?:[-*_]\s*){3,}$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~$&])")
_EMPHASIS = re.compile(r"(?<!\\)(\*\*|__|~~|\*|`)(?=\S)|(?<=\S)(?<!\\)(\*\*|__|~~|\*|`)")
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_CJK_SPACE = re.compile(rf"(?<=[{_CJK}]) +| +(?=[{_CJK}])")
_FOLD = str.maketrans(
    {
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "“": '"', "”": '"', "„": '"', "″": '"',
        "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "\u00ad": None, "\u200b": None,
        "\ufeff": None, "☐": "[ ]", "☒": "[x]", "☑": "[x]",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell with its place; ``text`` is folded."""

    row: int
    column: int
    row_span: int
    column_span: int
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table as its cells, row by row."""

    cells: tuple[Cell, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max((c.row + c.row_span for c in self.cells), default=0)


def fold(text: str) -> str:
    """Compatibility forms resolved, quotes and dashes unified, white space collapsed."""
    folded = unicodedata.normalize("NFKC", text).translate(_FOLD)
    folded = re.sub(r"\s+", " ", folded).strip()
    return _CJK_SPACE.sub("", folded)


def plain_text(markdown: str) -> str:
    """The words of ``markdown`` in order, folded, cells of tables among them."""
    text = _HTML_TABLE.sub(lambda m: f"\n{_words(m.group())}\n", markdown)
    kept = []
    for line in text.split("\n"):
        if _PIPE_RULE.match(line):
            continue
        kept.append(" ".join(_pipe_cells(line)) if _PIPE_ROW.match(line) else line)
    text = "\n".join(kept)
    for pattern in (_COMMENT, _IMAGE, _FENCE, _RULE_LINE):
        text = pattern.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" " if "<br" in text.lower() else "", text)
    text = _LIST_MARK.sub("", _HEADING_MARK.sub("", text))
    text = _EMPHASIS.sub("", text)
    text = _ESCAPE.sub(r"\1", text)
    return fold(html.unescape(text))


def tables(markdown: str) -> list[Table]:
    """All tables in order, whether HTML or pipe tables."""
    found: list[tuple[int, Table]] = [
        (m.start(), table)
        for m in _HTML_TABLE.finditer(markdown)
        if (table := html_table(m.group())).cells
    ]
    position, block, start = 0, list[str](), 0
    for line in [*markdown.split("\n"), ""]:
        if _PIPE_ROW.match(line):
            start = start if block else position
            block.append(line)
        else:
            if any(_PIPE_RULE.match(row) for row in block):
                found.append((start, _pipe_table(block)))
            block = []
        position += len(line) + 1
    return [table for _, table in sorted(found, key=lambda item: item[0])]


def html_table(markup: str) -> Table:
    """A table of HTML with its spans laid out on a grid."""
    root = lxml_html.fragment_fromstring(markup, create_parent="div")
    taken: set[tuple[int, int]] = set()
    cells = []
    for row, tr in enumerate(root.iter("tr")):
        column = 0
        for td in tr:
            if td.tag not in {"td", "th"}:
                continue
            while (row, column) in taken:
                column += 1
            height, width = _span(td.get("rowspan")), _span(td.get("colspan"))
            taken |= {(row + i, column + j) for i in range(height) for j in range(width)}
            cells.append(Cell(row, column, height, width, _cell_text(td)))
            column += width
    return Table(tuple(cells))


def _cell_text(td: lxml_html.HtmlElement) -> str:
    for br in td.iter("br"):
        br.tail = f" {br.tail or ''}"
    return fold(str(td.text_content()))


def _span(value: str | None) -> int:
    return min(max(int(value), 1), 200) if value and value.isdigit() else 1


def _words(markup: str) -> str:
    return " ".join(cell.text for cell in html_table(markup).cells)


def _pipe_cells(line: str) -> list[str]:
    inner = line.strip()[1:-1]
    return [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", inner)]


def _pipe_table(lines: list[str]) -> Table:
    rows = [_pipe_cells(line) for line in lines if not _PIPE_RULE.match(line)]
    cells = [
        Cell(r, c, 1, 1, plain_text(text))
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    return Table(tuple(cells))
