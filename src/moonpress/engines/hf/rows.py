"""The reply for one page while its tokens come, one row of a batch.

Owns turning tokens into text: a character may take several tokens, which wait for the last of them.
Special tokens are text too, but for the one that ends the reply, or nobody would see a model that
writes nothing else. Never chooses tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from moonpress.engines.layout_model import Ending, Written

# Tokens that are no text, whatever follows, must not hold up the rest.
_MOST_WAITING = 8
_HALF_A_CHARACTER = "\ufffd"


class Decoder(Protocol):
    """The part of a tokeniser that is needed."""

    def decode(self, ids: list[int]) -> str:
        """The text of some tokens, special ones too."""
        ...


class Row:
    """One reply.

    Args:
        decoder: Turns tokens into text.
        prompt_tokens: Of picture and prompt, for the record.
        most_tokens: After which the reply is cut.

    Attributes:
        done: No more tokens are wanted.
    """

    def __init__(self, decoder: Decoder, prompt_tokens: int, most_tokens: int) -> None:
        self.done = False
        self._decoder = decoder
        self._prompt_tokens = prompt_tokens
        self._most_tokens = most_tokens
        self._tokens = 0
        self._waiting: list[int] = []
        self._logprobs: list[float] = []

    def take(
        self, token: int, logprob: float | None, *, is_end: bool
    ) -> Iterator[Written | Ending]:
        """Take the next token; gives the text that it completes, and the end."""
        self._tokens += 1
        if not is_end:
            self._waiting.append(token)
            if logprob is not None:
                self._logprobs.append(logprob)
        cut = self._tokens >= self._most_tokens
        self.done = is_end or cut
        if self._waiting:
            text = self._decoder.decode(self._waiting)
            whole = not text.endswith(_HALF_A_CHARACTER) or len(self._waiting) >= _MOST_WAITING
            if whole or self.done:
                yield self._written(text)
        if self.done:
            yield Ending(is_end, self._prompt_tokens, self._tokens)

    def _written(self, text: str) -> Written:
        tokens, logprobs = len(self._waiting), tuple(self._logprobs)
        self._waiting.clear()
        self._logprobs.clear()
        return Written(text, tokens, (len(text),) * tokens, logprobs)
