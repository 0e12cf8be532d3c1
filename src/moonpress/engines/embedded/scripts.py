"""Repairs of what the recogniser confuses between scripts.

Owns the look-alikes: Chinese characters in Western text, full-width forms. Never changes text of a
page that is written in an East Asian script.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from moonpress.engines.embedded.recognition import is_eastern
from moonpress.engines.embedded.types import Line, Word

# What the recogniser writes for Western signs when it takes them for Eastern ones.
_LOOK_ALIKES = str.maketrans(
    {
        "一": "-", "—": "—", "ー": "-", "丨": "|", "〇": "0", "○": "○", "口": "□", "囗": "□",
        "ロ": "□", "、": ",", "。": ".", "・": "·", "「": "[", "」": "]", "《": "«", "》": "»",
        "〈": "<", "〉": ">", "【": "[", "】": "]", "〔": "[", "〕": "]", "\u3000": " ",
        "＿": "_", "￥": "¥", "〜": "~",
    }
)  # fmt: skip
_EASTERN_SHARE = 0.12  # of a page's letters, from which it counts as written in an Eastern script
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


def settle_scripts(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The same lines, with look-alikes repaired where a page or a line is not Eastern."""
    letters = sum(c.isalnum() for line in lines for c in line.text)
    eastern = sum(len(_CJK.findall(line.text)) for line in lines)
    page_is_eastern = letters > 0 and eastern >= max(_EASTERN_SHARE * letters, 2)
    return tuple(
        line
        for given in lines
        if (line := given if page_is_eastern or _is_eastern_line(given) else _western(given)).text
    )


def _is_eastern_line(line: Line) -> bool:
    """A line of real Eastern words on a Western page, such as a name in a list of references."""
    found = [c for c in line.text if _CJK.match(c) and c not in "一口囗十丨"]
    letters = sum(c.isalnum() for c in line.text)
    return len(found) >= 2 and (line.confidence > 0.85 or 2 * len(found) > letters)


def _western(line: Line) -> Line:
    text = to_western(line.text)
    if text == line.text:
        return line
    words = tuple(Word(w.box, t) for w in line.words if (t := to_western(w.text)))
    return replace(line, text=text, words=words)


def to_western(text: str) -> str:
    """Western text without Eastern signs: look-alikes mapped, the others left out."""
    if not any(map(is_eastern, text)):
        return text
    mapped = unicodedata.normalize("NFKC", text.translate(_LOOK_ALIKES))
    return " ".join("".join(c for c in mapped if not is_eastern(c)).split())
