"""HTML so plain that sanitising it changes nothing.

Owns one regular expression: paragraphs, headings, lists in lists and whole tables that hold text,
simple inline markup and formulas, well nested, without a character that would be escaped anew.
Nearly all that layout models write is like that, and looking costs a tenth of parsing. Never cleans
anything: what it does not know goes to the sanitiser.
"""

from __future__ import annotations

import re
from functools import cache

_TEXT = r"(?:[^<>&\xa0\r\x00]++|&(?:amp|lt|gt);)"
_VOID = r'<br ?/?>|<img alt="[^"&<>\xa0\r]*" ?/?>'
_MATH = rf'<math(?: display="(?:block|inline)")?>{_TEXT}*+</math>'
_MARKS = "b|i|u|em|strong|sub|sup|del|code|chem"


def _marked(inner: str, group: str) -> str:
    return rf"<(?P<{group}>{_MARKS})>{inner}*</(?P={group})>"


@cache
def _pattern() -> re.Pattern[str]:
    # Repeats that hold groups are not possessive: Python's matcher loses track of the groups then
    # (seen in 3.11.7, 3.12.1 and 3.13.0). There is one way to match at each place anyway.
    counter = iter(range(100))

    def inline() -> str:
        leaf = f"(?:{_TEXT}|{_VOID}|{_MATH})"
        inner = f"(?:{leaf}|{_marked(leaf, f'g{next(counter)}')})"
        return f"(?:{leaf}|{_marked(inner, f'g{next(counter)}')})*"

    space = r"[ \n\t]*+"
    # Not the same one twice: parsers drop the second.
    columns, lines = r' colspan="[0-9]{1,4}"', r' rowspan="[0-9]{1,4}"'
    size = f"(?:{columns}(?:{lines})?|{lines}(?:{columns})?)?"
    cell = rf"<(?P<cell>t[dh]){size}>{inline()}</(?P=cell)>{space}"
    rows = f"(?:<tr>{space}(?:{cell})*</tr>{space})*"
    # A group name may stand once only.
    head = f"(?:<thead>{space}{rows.replace('cell>', 'headcell>').replace('=cell', '=headcell')}"
    head = re.sub(r"\(\?P([<=])g(\d+)", r"(?P\1hg\2", head) + f"</thead>{space})?"
    body = f"<tbody>{space}{rows}</tbody>{space}"
    table = f"<table>{space}{head}{body}</table>"
    first, kind = r' start="[0-9]{1,6}"', r' type="[1aAiI]"'
    numbers = f"(?:(?<=<ol)(?:{first}(?:{kind})?|{kind}(?:{first})?))?"

    def items(group: str, within: str) -> str:
        item = f"<li>{inline()}{within}</li>{space}"
        return f"<(?P<{group}>ul|ol){numbers}>{space}(?:{item})*</(?P={group})>"

    lists = items("list", f"(?:{items('inner', '')}{space})?")
    block = rf"<(?P<block>p|h[1-6])>{inline()}</(?P=block)>"
    return re.compile(f"(?:{block}|{lists}|{table}|{_TEXT}|{_VOID}|{_MATH})*")


def as_plain(html: str) -> str | None:
    """What the sanitiser would make of ``html``, if that can be told by looking; else ``None``."""
    if _pattern().fullmatch(html) is None:
        return None
    if "/>" not in html:
        return html
    # No ">" stands in text or in descriptions, so these are ends of void tags.
    return html.replace(" />", ">").replace("/>", ">")
