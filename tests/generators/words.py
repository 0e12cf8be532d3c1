"""Text for generated pages: English and Chinese sentences from word lists and a seed.

Owns the grammar; the vocabulary is in ``tests/data/vocabulary.json``. Both were written for this
project. Never lays anything out.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

_LISTS: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).resolve().parents[1] / "data" / "vocabulary.json").read_text(encoding="utf-8")
)
_EN = {name: tuple(words.split("|")) for name, words in _LISTS["en"].items()}
_ZH = {name: tuple(words.split("|")) for name, words in _LISTS["zh"].items()}
_MORE_CHINESE = (
    "第一二三四五六七八九十百千万图章节页、，。？！：；（）《》“”是把被向对和了在与说甲乙丙组"
)


def english_sentence(rng: Random) -> str:
    """One sentence of 6 to 25 words; a few carry figures in brackets."""
    text = _clause(rng)
    if rng.random() < 0.45:
        text = f"{text} {rng.choice(_EN['links'])} {_clause(rng)}"
    if rng.random() < 0.2:
        return f"{rng.choice(_EN['openers'])} {text}."
    if rng.random() < 0.08:
        text = f"{text} ({rng.randint(2, 98)} of {rng.randint(100, 999)})"
    return f"{text[0].upper()}{text[1:]}."


def english_paragraph(rng: Random, words: int) -> str:
    """Sentences of at least ``words`` words together."""
    sentences: list[str] = []
    while sum(s.count(" ") + 1 for s in sentences) < words:
        sentences.append(english_sentence(rng))
    return " ".join(sentences)


def english_title(rng: Random, words: int = 4) -> str:
    """A few words in title case, without a full stop."""
    pool = [
        rng.choice(_EN["adjectives"]),
        rng.choice(_EN["nouns"]),
        "and",
        rng.choice(_EN["nouns"]),
    ]
    while len(pool) < words:
        pool += [rng.choice(_EN["adjectives"]), rng.choice(_EN["nouns"])]
    text = " ".join(w if w == "and" else w.capitalize() for w in pool[:words])
    return text.removesuffix(" and")


def english_phrase(rng: Random) -> str:
    """A short noun phrase such as ``narrow bridge``, for cells and list items."""
    return f"{rng.choice(_EN['adjectives'])} {rng.choice(_EN['nouns'])}"


def chinese_sentence(rng: Random) -> str:
    """One sentence with Chinese punctuation and no spaces."""
    text = _zh_clause(rng)
    if rng.random() < 0.6:
        text = f"{text}，{rng.choice(_ZH['links'])}{_zh_clause(rng)}"
    if rng.random() < 0.25:
        text = f"{rng.choice(_ZH['openers'])}，{text}"
    return text + ("？" if rng.random() < 0.05 else "。")


def chinese_paragraph(rng: Random, characters: int) -> str:
    """Sentences of at least ``characters`` characters together."""
    text = ""
    while len(text) < characters:
        text += chinese_sentence(rng)
    return text


def chinese_phrase(rng: Random) -> str:
    """A noun phrase, for titles, cells and list items."""
    return f"{rng.choice(_ZH['adjectives'])}{rng.choice(_ZH['nouns'])}"


def all_chinese() -> str:
    """Every Chinese character that generated pages use, sorted; fonts are cut down to these."""
    used = {char for words in _ZH.values() for word in words for char in word}
    return "".join(sorted(used | set(_MORE_CHINESE)))


def _clause(rng: Random) -> str:
    parts = [_noun_phrase(rng), rng.choice(_EN["verbs"]), _noun_phrase(rng)]
    if rng.random() < 0.3:
        parts.insert(1, rng.choice(_EN["adverbs"]))
    if rng.random() < 0.5:
        parts.append(rng.choice(_EN["places"]))
    return " ".join(parts)


def _noun_phrase(rng: Random) -> str:
    noun = rng.choice(_EN["nouns"])
    words = [rng.choice(_EN["adjectives"]), noun] if rng.random() < 0.6 else [noun]
    determiner = rng.choice(_EN["determiners"])
    if determiner == "a" and words[0][0] in "aeiou":
        determiner = "an"
    return " ".join([determiner, *words])


def _zh_clause(rng: Random) -> str:
    subject = rng.choice(_ZH["adjectives"]) if rng.random() < 0.6 else ""
    target = rng.choice(_ZH["adjectives"]) if rng.random() < 0.4 else ""
    place = rng.choice(_ZH["places"]) if rng.random() < 0.4 else ""
    return (
        f"{subject}{rng.choice(_ZH['nouns'])}{place}{rng.choice(_ZH['verbs'])}"
        f"{target}{rng.choice(_ZH['nouns'])}"
    )
