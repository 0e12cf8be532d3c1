"""Tokens into text, with a tokeniser whose tokens are bytes, as those of the real one may be."""

from __future__ import annotations

import pytest

from moonpress.engines.hf.rows import Row
from moonpress.engines.layout_model import Ending, Written

END = 300


class Bytes:
    """Each token is one byte of UTF-8; those from 256 on are special."""

    def decode(self, ids: list[int]) -> str:
        data = [bytes([token]) if token < 256 else b"<|special|>" for token in ids]
        return b"".join(data).decode(errors="replace")


def pieces(tokens: list[int], most: int = 1000) -> list[Written | Ending]:
    row = Row(Bytes(), 900, most)
    taken: list[Written | Ending] = []
    for token in tokens:
        assert not row.done
        taken += row.take(token, -0.5, is_end=token == END)
    return taken


def test_a_character_comes_whole_with_all_its_tokens() -> None:
    first, second, ending = pieces([*"aé".encode(), END])
    assert first == Written("a", 1, (1,), (-0.5,))
    assert second == Written("é", 2, (1, 1), (-0.5, -0.5))
    assert ending == Ending(True, 900, 4)


@pytest.mark.parametrize("text", ["Zürich", "数学", "a😀b", "naïve ﷺ"])
def test_no_text_is_lost(text: str) -> None:
    *written, ending = pieces([*text.encode(), END])
    assert "".join(piece.text for piece in written if isinstance(piece, Written)) == text
    assert isinstance(ending, Ending)


def test_bytes_that_are_no_text_do_not_hold_up_the_rest() -> None:
    *written, _ = pieces([0xF0] * 20 + [*b"ok", END])
    texts = [piece.text for piece in written if isinstance(piece, Written)]
    assert texts[0] == "\ufffd" * 8
    assert "".join(texts).endswith("ok")


def test_a_reply_that_is_cut_says_so_and_keeps_the_half_character() -> None:
    first, second, ending = pieces([*b"a", 0xC3], most=2)
    assert first == Written("a", 1, (1,), (-0.5,))
    assert second == Written("\ufffd", 1, (1,), (-0.5,))
    assert ending == Ending(False, 900, 2)


def test_special_tokens_are_seen_but_for_the_last() -> None:
    """A model that writes nothing else is in a loop, which is looked for in the text."""
    *written, ending = pieces([*b"a", 299, *b"b", END])
    texts = [piece.text for piece in written if isinstance(piece, Written)]
    assert texts == ["a", "<|special|>", "b"]
    assert ending == Ending(True, 900, 4)
