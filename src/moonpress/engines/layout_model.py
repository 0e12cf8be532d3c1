"""The seam between layout models, wherever they run, and the guards around them.

Owns the `LayoutModel` protocol and what passes through it. Never starts a model and never judges
what it wrote: see `moonpress.engines.guarded`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from moonpress.document import PageImage


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one try at a page is made.

    Attributes:
        temperature: 0 takes the likeliest token each time.
        top_p: Share of the probability among which tokens are drawn.
        zoom: By which the sides of the page's picture are multiplied before it is fitted.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    zoom: float = 1.0


@dataclass(frozen=True, slots=True)
class Written:
    """The next piece of what the model writes.

    Attributes:
        text: Some characters of layout HTML; may be empty.
        tokens: How many tokens it took.
        ends: For each token the index in ``text`` after its last character; empty when unknown.
        logprobs: The natural logarithm of each token's probability; empty when not asked for.
    """

    text: str
    tokens: int = 1
    ends: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """The model has ended by itself: always the last thing that comes.

    Attributes:
        complete: It said that it was done; otherwise it ran out of tokens.
        prompt_tokens: Tokens of the picture and the prompt.
        output_tokens: Tokens written.
        sending_seconds: How long the request was on its way to a server, where that is known.
    """

    complete: bool
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    sending_seconds: float | None = None


class LayoutModel(Protocol):
    """Writes layout HTML for pages."""

    @property
    def name(self) -> str:
        """Short stable name of the engine that it is part of."""
        ...

    @property
    def capacity(self) -> int:
        """How many pages it wants in flight to be fully used."""
        ...

    @property
    def scale(self) -> float:
        """What the coordinates of its boxes count up to; known after `prepare`."""
        ...

    async def prepare(self) -> None:
        """Find out whether it can be used; may be called again, to look whether it still can.

        Raises:
            EngineUnavailable: it cannot be reached, in one line.
            UnknownName: it is not the model that was asked for.
        """
        ...

    def write(self, image: PageImage, sampling: Sampling) -> AsyncGenerator[Written | Ending, None]:
        """Write the page; closing the generator stops the model at once.

        Raises:
            EngineUnavailable: it went away.
            EngineRejected: this page will never be accepted.
            BadOutput: it failed on this page.
        """
        ...

    async def aclose(self) -> None:
        """Free connections, processes and memory."""
        ...
