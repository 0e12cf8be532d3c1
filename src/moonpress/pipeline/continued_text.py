"""Whether a paragraph goes on as the first one of the next page.

Owns what counts as evidence: how the first part ends and how the second begins. Never looks at what
lies between them.
"""

from __future__ import annotations

import re

from moonpress.document import Block, BlockKind
from moonpress.document.html import visible_text

_MATH = re.compile(r"<math\b.*?</math\s*>", re.DOTALL | re.IGNORECASE)
# Marks of footnotes stand behind the full stop.
_RAISED = re.compile(r"<sup\b.*?</sup\s*>", re.DOTALL | re.IGNORECASE)
_OBJECT = "\ufffc"
_ENDED = re.compile(
    r"[.:;!?\u2026\u3002\uff01\uff1a\uff1b\uff1f][\"'\u201d\u2019\u00bb)\]\u300d\u300f]*$"
)
_BROKEN_WORD = re.compile(r"[^\W\d_][-\u2010\u00ad]$")
_OPEN_END = re.compile(
    r"(?:[^\W\d_][\"'\u201d\u2019\u00bb]*|[,\uff0c\u3001)\]%\u2013\u2014]|\ufffc|(?<=[\s(])\d{1,4})$"
)
_ITEM = re.compile(r"\(?(?:[a-z]|[ivx]{1,4})[.)]\s")
_ADDRESS = re.compile(r"[@/\\_]|www\.|\w\.\w")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# No sentence ends in one of these, whatever the next page begins with.
_NEVER_LAST = re.compile(
    r"(?:an?|and|are|as|at|because|by|for|from|if|in|into|is|of|on|or|our|that|the|their|these|this|to|was|we"
    r"|were|when|where|which|while|whose|with|und|oder|der|des|dem|den|von|zu|im|zur|zum|sowie"
    r"|les?|et|du|une|aux|dans|par|el|los|del|las|para|con|y)"
)
_SHORTEST, _SHORTEST_WORDS = 25, 4
_SHORTEST_CJK = 20
_SAME_SIZE = 1.1
_SAME_WIDTH = 0.03
_TOP, _BOTTOM = 0.12, 0.88
_PAGE_NUMBER = re.compile(r"\W*(?:\d{1,4}|[ivxlcIVXLC]{1,6})\W*")


def is_page_number(block: Block) -> bool:
    """Whether a text is nothing but a number at the edge of the page.

    In short documents no number recurs often enough to be known as a page footer.
    """
    at_edge = block.bbox.y1 <= _TOP or block.bbox.y0 >= _BOTTOM
    if block.kind is not BlockKind.TEXT or not at_edge:
        return False
    return _PAGE_NUMBER.fullmatch(visible_text(block.html)) is not None


def text_goes_on(first: Block, second: Block) -> bool:
    """Whether ``second`` begins in the middle of the sentence in which ``first`` ends.

    The first has to break off inside a word, or without an end of sentence while the second begins
    in lower case, or in a word that ends no sentence. Chinese and Japanese have no lower case:
    there both must fill the same column.
    """
    if not _are_paragraphs(first, second) or not _same_letters(first, second):
        return False
    head, tail = _words(first), _words(second)
    if not head or not tail or _ENDED.search(head) or _ITEM.match(tail):
        return False
    if _CJK.match(tail):
        return _cjk_goes_on(first, head, second, tail)
    if len(head) < _SHORTEST or head.count(" ") < _SHORTEST_WORDS - 1:
        return False
    return _latin_goes_on(head, tail)


def _are_paragraphs(first: Block, second: Block) -> bool:
    if first.kind is not BlockKind.TEXT or second.kind is not BlockKind.TEXT:
        return False
    return first.html.rstrip().endswith("</p>") and second.html.lstrip().startswith("<p")


def _latin_goes_on(head: str, tail: str) -> bool:
    last, start = head.rsplit(None, 1)[-1], tail.split(None, 1)[0]
    if _ADDRESS.search(last) or _ADDRESS.search(start):
        return False
    if _BROKEN_WORD.search(head):
        return tail[0].isalpha()
    if not _OPEN_END.search(head):
        return False
    if tail[0].islower():
        return _ENDED.search(tail) is not None or tail.count(" ") >= _SHORTEST_WORDS - 1
    return _NEVER_LAST.fullmatch(last) is not None and (
        tail[0].isalnum() or tail[0] in f"({_OBJECT}"
    )


def _cjk_goes_on(first: Block, head: str, second: Block, tail: str) -> bool:
    if min(len(head), len(tail)) < _SHORTEST_CJK:
        return False
    if not _CJK.match(head[-1]) and head[-1] not in "\uff0c\u3001":
        return False
    return abs(first.bbox.width - second.bbox.width) < _SAME_WIDTH


def _same_letters(first: Block, second: Block) -> bool:
    sizes = first.font_size, second.font_size
    if sizes[0] is None or sizes[1] is None or min(sizes[0], sizes[1]) <= 0:
        return True
    return max(sizes[0], sizes[1]) <= _SAME_SIZE * min(sizes[0], sizes[1])


def _words(block: Block) -> str:
    """The words of a block, one sign for each formula, no raised marks."""
    return visible_text(_RAISED.sub("", _MATH.sub(_OBJECT, block.html)))
