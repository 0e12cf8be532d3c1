"""Tables in Markdown: pipes where they can say it, HTML where cells are merged or hold blocks.

Owns both forms. Never lays out cells: see `tables`.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from lxml.html import HtmlElement

from moonpress.document.html import is_safe_link, tag_of
from moonpress.outputs.inline import InlineStyle, Place, render_inline
from moonpress.outputs.latex import inline_latex
from moonpress.outputs.tables import Cell, Grid, read_grid
from moonpress.outputs.tokens import plain, tokenise, tokenise_run

_RULES: Final = {"left": ":---", "right": "---:", "center": ":---:"}
_INLINE_TAGS: Final = (
    "b",
    "code",
    "del",
    "em",
    "i",
    "ins",
    "mark",
    "s",
    "strong",
    "sub",
    "sup",
    "u",
)
_BLOCK_TAGS: Final = ("blockquote", "dd", "dl", "dt", "li", "ol", "p", "pre", "ul")
_TABLE_TAGS: Final = ("table", "tbody", "td", "th", "thead", "tr")
_HEADING_TAGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HTML_TAGS: Final = frozenset((*_INLINE_TAGS, *_BLOCK_TAGS, *_TABLE_TAGS, *_HEADING_TAGS))
_WHOLE_TAGS: Final = frozenset({"br", "chem", "hr", "img", "input", "math"})


def render_table(table: HtmlElement, style: InlineStyle) -> list[str]:
    """Markdown blocks of a table: its caption if it has one, and the table."""
    grid = read_grid(table)
    blocks: list[str] = []
    if grid.caption is not None:
        blocks.append(render_inline(tokenise(grid.caption), Place.PARAGRAPH, style))
    if grid.cells:
        blocks.append(_pipes(grid, style) if grid.is_simple else _html(grid, style))
    return [block for block in blocks if block]


def _pipes(grid: Grid, style: InlineStyle) -> str:
    """A pipe table. It must have a header: without one, the first row takes the place."""
    rows = grid.by_row()
    lines = []
    for row in rows:
        cells = [render_inline(tokenise(c.element), Place.CELL, style) for c in row]
        lines.append(_line(cells + [""] * (grid.columns - len(cells))))
    rules = [_RULES.get(c.element.get("align", ""), "---") for c in rows[0]]
    lines.insert(1, _line(rules + ["---"] * (grid.columns - len(rules))))
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _html(grid: Grid, style: InlineStyle) -> str:
    """An HTML table without empty lines, which would end it for a Markdown reader."""
    lines = ["<table>"]
    lines += [f"<tr>{''.join(_cell(c, style) for c in row)}</tr>" for row in grid.by_row()]
    lines.append("</table>")
    return "\n".join(lines)


def _cell(cell: Cell, style: InlineStyle) -> str:
    tag = "th" if cell.is_header else "td"
    spans = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    spans += f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return f"<{tag}{spans}>{_inside(cell.element, style).strip()}</{tag}>"


def _inside(element: HtmlElement, style: InlineStyle, *, code: bool = False) -> str:
    parts = [_text(element.text, code=code)]
    for child in element:
        parts.append(_element(child, style, code=code))
        parts.append(_text(child.tail, code=code))
    return "".join(parts)


def _element(element: HtmlElement, style: InlineStyle, *, code: bool) -> str:
    tag = tag_of(element)
    if tag in _WHOLE_TAGS:
        return _whole(element, tag, style)
    inside = _inside(element, style, code=code or tag == "pre")
    if tag == "a" and is_safe_link(element.get("href", "")):
        return f'<a href="{escape(element.get("href"))}">{inside}</a>'
    if tag not in _HTML_TAGS:
        return f"{inside} " if tag in {"div", "option"} else inside
    spans = "".join(
        f' {name}="{escape(element.get(name))}"'
        for name in ("colspan", "rowspan", "start")
        if element.get(name)
    )
    return f"<{tag}{spans}>{inside}</{tag}>"


def _whole(element: HtmlElement, tag: str, style: InlineStyle) -> str:
    """An element that is not walked into."""
    if tag in {"br", "hr"}:
        return f"<{tag}>"
    if tag == "math":
        return escape(inline_latex(element.text_content(), style.delimiters), quote=False)
    if tag == "chem":
        return f"<code>{_text(element.text_content(), code=False)}</code>"
    text = plain(tokenise_run([element]))
    return escape(text, quote=False)


def _text(text: str | None, *, code: bool) -> str:
    escaped = escape(text or "", quote=False)
    return escaped.replace("\n", "&#10;") if code else re.sub(r"[ \t\n\r\f]+", " ", escaped)
