"""Following a page while a model writes it: what is certain is told at once, and stays true.

Owns which part of a reply is certain, and how a further try at a page goes on from what was told.
Never parses blocks and never judges a reply: see `moonpress.engines.guarded`.

A block is certain when it is closed and no loop that is found later can take it back. A loop is a
tail of the reply that repeats what stands before it, numbers aside; so a block that stands nowhere
before is certain at once, with all that came before it. Others wait for the next such block, or for
the end of the page.

What was told binds the page. A further try, or another replica, goes on behind it when it comes to
the last block that was told, and has the same words up to there but for one in twenty; it may begin
to differ only afterwards. A try that does not is of no use, however good it is: the page then ends
with what was told, and is partial.

Who follows is known by a context variable, as the fields of log events are, so that pools, retries
and engines of third parties need to know nothing of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from moonpress.document import LayoutReply

_DIV = re.compile(r"<(/?)div\b[^<>]*>", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_BOX = re.compile(r"data-bbox\s*=\s*(\"[^\"]*\"|'[^']*')")
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w+")
_ALIKE = 0.95  # of the words

_following: ContextVar[Following | None] = ContextVar("moonpress_following", default=None)


class Follower(Protocol):
    """Who follows a page."""

    def __call__(self, reply: LayoutReply, tokens: int) -> None:
        """More is certain.

        Args:
            reply: All that is certain by now, which begins with what it was before.
            tokens: Written for this page so far, in all tries.
        """
        ...


class Following:
    """One page that is followed, over all tries and replicas.

    Args:
        follower: Who is told.

    Attributes:
        html: What was told.
        tokens: Written so far.
    """

    def __init__(self, follower: Follower) -> None:
        self.html = ""
        self.tokens = 0
        self._follower = follower
        self._ends: list[int] = []
        self._logprobs: list[float] = []
        self._last = ""
        self._teller: WrittenTry | None = None

    def is_told_by(self, one: WrittenTry) -> bool:
        """Whether ``one`` may go on where what was told ends."""
        return self._teller is one or not self.html

    def may_go_on(self, block: str, before: str) -> bool:
        """Whether a try comes to where what was told ends, with ``block`` at the end of ``before``.

        Args:
            block: The try's last block.
            before: All that it wrote, with the block.
        """
        return _content(block) == self._last and _alike(before, self.html)

    def go_on(self, one: WrittenTry) -> None:
        """From now on ``one`` tells, and no try before it."""
        self._teller = one

    def tell(self, one: WrittenTry, text: str, last: str, scale: float) -> None:
        """Tell the follower of the next part, which ``one`` wrote and which ends with ``last``."""
        self._teller = one
        reply = one.reply(scale, text)
        self.html, self._last = reply.html, _content(last)
        self._ends, self._logprobs = list(reply.token_ends), list(reply.token_logprobs)
        self._follower(reply, self.tokens)

    def extended(
        self, text: str, ends: list[int], logprobs: list[float], scale: float
    ) -> LayoutReply:
        """What was told, and ``text`` after it, whose tokens end at ``ends`` of it."""
        shift = len(self.html)
        return LayoutReply(
            self.html + text,
            scale,
            (*self._ends, *(shift + end for end in ends)),
            (*self._logprobs, *logprobs),
        )


@contextmanager
def following(one: Following) -> Iterator[None]:
    """Follow the page that is read inside, by whatever engine."""
    token = _following.set(one)
    try:
        yield
    finally:
        _following.reset(token)


def followed() -> Following | None:
    """What follows the page that is being read here."""
    return _following.get()


class WrittenTry:
    """One try at a page that is followed.

    Args:
        page: What is known of the page over all tries.
        scale: Of the model's boxes.
        ends: Index after each token, which the caller goes on to fill.
        logprobs: Of each token, likewise.

    Attributes:
        told: Index in this try's text up to which it was told; only where `follows` holds.
    """

    def __init__(
        self, page: Following, scale: float, ends: list[int], logprobs: list[float]
    ) -> None:
        self.told = 0
        self._page = page
        self._scale = scale
        self._ends = ends
        self._logprobs = logprobs
        self._text = ""
        self._pieces: list[str] = []
        self._scanned = 0
        self._depth = 0
        self._block = 0
        self._even = ""

    @property
    def follows(self) -> bool:
        """Whether the page may end as this try does."""
        return self._page.is_told_by(self)

    def feed(self, text: str, tokens: int) -> None:
        """Take the next piece of the reply, and tell what is certain."""
        self._page.tokens += tokens
        self._pieces.append(text)
        if ">" not in text:
            return
        self._text += "".join(self._pieces)
        self._pieces.clear()
        while (tag := _DIV.search(self._text, self._scanned)) is not None:
            self._scanned = tag.end()
            self._depth = max(self._depth - 1, 0) if tag[1] else self._depth + 1
            if self._depth == 0:
                self._close(tag.end())

    def reply(self, scale: float, text: str) -> LayoutReply:
        """The page as this try has it up to the end of ``text``, which begins its own text.

        Where it does not follow what was told, that is all.
        """
        if not self.follows:
            return self._page.extended("", [], [], scale)
        first = bisect_right(self._ends, self.told) if self.told else 0
        last = bisect_right(self._ends, len(text))
        ends = [end - self.told for end in self._ends[first:last]]
        return self._page.extended(
            text[self.told :], ends, self._logprobs[first:last] if self._logprobs else [], scale
        )

    def _close(self, end: int) -> None:
        """A block has been closed."""
        block = self._text[self._block : end]
        even = _NUMBER.sub("0", block)
        seen_before = even.strip() in self._even
        self._even += even
        self._block = end
        if not self.follows:
            if self._page.may_go_on(block, self._text[:end]):
                self._page.go_on(self)
                self.told = end
        elif not seen_before:
            self._page.tell(self, self._text[:end], block, self._scale)
            self.told = end


def _content(block: str) -> str:
    """A block without its place on the page, which every try gives a little differently."""
    return _BOX.sub("", block).strip()


def _alike(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    most = max(first.total(), second.total())
    return (first & second).total() >= _ALIKE * most


def _words(html: str) -> Counter[str]:
    return Counter(_WORD.findall(_TAG.sub(" ", html)))
