"""Loops of many kinds must be caught soon; what merely looks alike must not."""

from __future__ import annotations

import random
import re
import time

import pytest

from moonpress.engines.loops import Loop, LoopWatch

# About how the model's tokeniser cuts: pieces of words, single digits, runs of signs.
TOKEN = re.compile(r" ?[^\W\d_]{1,7}|\d| ?[^\w\s]{1,3}|\s+|_")

PROSE = (
    '<div data-bbox="102 88 899 130" data-label="Section-Header"><h2>3 Results</h2></div>\n'
    '<div data-bbox="102 140 899 610" data-label="Text"><p>The samples of the first group were kept'
    " at 20 degrees for two days and weighed again. None had lost more than 3 grams, which agrees"
    " with what earlier work found in 1998 and 2004.</p></div>\n"
)


def watch(text: str) -> tuple[Loop | None, int]:
    """Feed token by token; the loop and how many tokens had come."""
    watcher = LoopWatch()
    for count, token in enumerate(TOKEN.findall(text), start=1):
        loop = watcher.feed(token, 1)
        if loop is not None:
            return loop, count
    return None, 0


def tokens(text: str) -> int:
    return len(TOKEN.findall(text))


WORD_LOOPS = {
    "one word": ["the "] * 400,
    "a phrase": ["and the committee then "] * 200,
    "a sentence": ["The committee then decided to hear the witnesses again. "] * 60,
    "a long sentence": [
        "It was held that the tenant, having been given due notice of the landlord's intention to"
        " sell the premises, could not claim that he had been misled. "
    ]
    * 40,
    "list items": ["<li>See the notes to the accounts.</li>"] * 100,
    "counting items": [f"<li>Item {n}</li>" for n in range(1, 300)],
    "counting up in tens": [f"Volume {n}, part {n + 1}; " for n in range(100, 4000, 10)],
    "rows": ["<tr><td>Other income</td><td>0</td><td>0</td></tr>\n"] * 60,
    "counting rows": [f"<tr><td>Sample {n}</td><td>{2 * n}</td></tr>" for n in range(200)],
    "blocks that move down": [
        f'<div data-bbox="100 {40 + n * 17 + n % 3} 900 {55 + n * 17}" data-label="Text">'
        "<p>Signature of the applicant</p></div>\n"
        for n in range(90)
    ],
    "LaTeX": [r"\frac{a}{b} + "] * 100,
    "Chinese": ["我们认为这是对的，"] * 100,
    "a picture's description": ["with a tree and a house and a tree and "] * 60,
}


@pytest.mark.parametrize("name", WORD_LOOPS)
def test_loops_that_carry_words_are_caught_within_200_tokens(name: str) -> None:
    loop, seen = watch(PROSE + "".join(WORD_LOOPS[name]))
    assert loop is not None
    assert seen - tokens(PROSE) <= 200


@pytest.mark.parametrize("name", WORD_LOOPS)
def test_the_clean_part_holds_the_prose_and_few_copies(name: str) -> None:
    pieces = WORD_LOOPS[name]
    text = PROSE + "".join(pieces)
    loop, _ = watch(text)
    assert loop is not None
    kept = text[: loop.clean_end]
    assert kept.startswith(PROSE.rstrip())
    assert len(kept) <= len(PROSE) + 3 * len(pieces[0]) + 8
    assert kept.rfind("<") <= kept.rfind(">")


WORDLESS_LOOPS = {
    "dots without end": "." * 20_000,
    "empty cells without end": "<td></td>" * 3000,
    "rows of zeros without end": "<tr><td>0</td><td>0</td></tr>" * 800,
    "a number without end": "0." + "3" * 5000,
    "breaks without end": "<br/>" * 4000,
    "counting without words": " ".join(str(n) for n in range(3000)),
}


@pytest.mark.parametrize("name", WORDLESS_LOOPS)
def test_loops_without_words_are_caught_in_the_end(name: str) -> None:
    loop, seen = watch(PROSE + WORDLESS_LOOPS[name])
    assert loop is not None
    assert seen - tokens(PROSE) <= 2300


def _table(rows: int, columns: int) -> str:
    draw = random.Random(7)
    body = "".join(
        "<tr>" + "".join(f"<td>{draw.randrange(1000)}</td>" for _ in range(columns)) + "</tr>\n"
        for _ in range(rows)
    )
    return f"<table>{body}</table>"


def _contents() -> str:
    draw = random.Random(8)
    page, lines = 1, []
    for chapter in range(1, 60):
        page += draw.randrange(1, 19)
        lines.append(f"<li>Chapter {chapter} {'.' * 60} {page}</li>")
    return "\n".join(lines)


def _measurements() -> str:
    draw = random.Random(9)
    return "".join(
        f"<tr><td>Sample {n}</td><td>{draw.random():.2f} mg</td><td>{draw.random():.3f}</td></tr>"
        for n in range(60)
    )


REAL = {
    "prose": PROSE * 1 + "He said that " + " ".join(f"word{chr(97 + n)}" for n in range(26)),
    "dotted leaders": "<p>Introduction " + "." * 300 + " 4</p><p>Methods " + "." * 290 + " 9</p>",
    "spaced leaders": "<p>Introduction " + ". " * 150 + "4</p>",
    "lines to write on": "<p>" + "_" * 400 + "</p>" * 3,
    "an empty form": "<table>" + "<tr><td></td><td></td><td></td></tr>\n" * 45 + "</table>",
    "a calendar": "<tr>" + "<td></td>" * 70 + "</tr>",
    "numbered empty rows": "".join(f"<tr><td>{n}</td><td></td></tr>" for n in range(1, 60)),
    "a table of numbers": _table(60, 8),
    "a table of zeros": "<tr>" + "<td>0</td>" * 12 + "</tr>" + _table(20, 12),
    "contents": _contents(),
    "measurements with units": _measurements(),
    "a refrain": "<p>Row, row, row your boat</p>" * 3 + PROSE,
    "an identity matrix": " \\\\ ".join(
        " & ".join("1" if i == j else "0" for j in range(12)) for i in range(12)
    ),
    "not applicable": "<tr>" + "<td>N/A</td>" * 30 + "</tr>",
    "check marks": "<tr><td>✓</td><td>✓</td><td>✓</td></tr>" * 30,
}


@pytest.mark.parametrize("name", REAL)
def test_what_real_pages_hold_is_no_loop(name: str) -> None:
    assert watch(PROSE + REAL[name] + PROSE.replace("samples", "others")) == (None, 0)


def test_what_repeats_is_told_from_the_beginning_of_a_word() -> None:
    loop, _ = watch(PROSE + "".join(WORD_LOOPS["a phrase"]))
    assert loop is not None
    assert sorted(loop.what.split()) == ["and", "committee", "the", "then"]


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_pieces_does_not_matter(size: int) -> None:
    text = PROSE + "".join(WORD_LOOPS["counting items"])
    watcher = LoopWatch()
    for start in range(0, len(text), size):
        loop = watcher.feed(text[start : start + size], max(size // 3, 1))
        if loop is not None:
            break
    assert loop is not None
    assert PROSE.rstrip() in text[: loop.clean_end]


def test_looking_costs_little() -> None:
    """A page of 1,500 tokens with a table, which is the dearest; the bar is 5 ms."""
    stream = TOKEN.findall(PROSE + _table(30, 8) + _contents()[:800])
    assert len(stream) > 1500
    best = 1.0
    for _ in range(5):
        watcher = LoopWatch()
        began = time.process_time()
        for token in stream:
            watcher.feed(token, 1)
        best = min(best, time.process_time() - began)
    assert best < 0.02
