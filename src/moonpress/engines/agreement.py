"""How far the words of a reading and those of a text layer are the same.

Owns the comparison. Never decides whether the layer can be trusted, nor what a low agreement means.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from html import unescape

from moonpress.document import Agreement

_FEW = 20  # words; fewer prove nothing
_TAG = re.compile(r"<[^<>]*>?")
_FORMULA = re.compile(r"<(math|chem|pre)\b.*?(</\1|$)", re.IGNORECASE | re.DOTALL)
_DIVIDED = re.compile(r"[-\u00ad\u2010\x02\ufffe]\s*\n\s*")
# Scripts that put no spaces between words are compared character by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def compare(html: str, layer: str) -> Agreement | None:
    """Compare layout HTML with the text of a layer.

    Order does not count, nor do formulas and code, which layers spell in ways of their own.

    Returns:
        ``None`` when the layer has too few words to tell anything.
    """
    there = _words(_DIVIDED.sub("", layer))
    if there.total() < _FEW:
        return None
    read = _words(unescape(_TAG.sub(" ", _FORMULA.sub(" ", html))))
    shared = (there & read).total()
    return Agreement(
        found=shared / there.total(),
        backed=shared / read.total() if read else 0.0,
    )


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
