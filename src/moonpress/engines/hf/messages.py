"""What passes between this process and the one that holds the model.

Owns the types alone, so that neither side imports what only the other needs: torch is imported in
the model's process and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

from moonpress.engines.chandra.picture import Pixels
from moonpress.engines.layout_model import Ending, Written


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model once it is loaded.

    Attributes:
        device: ``cuda`` or ``cpu``.
        kind: Its architecture, as its configuration calls it.
        context: Tokens that picture, prompt and reply may have together.
        prompt_tokens: Tokens of the prompt without a picture.
    """

    device: str
    kind: str
    context: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class PageOrder:
    """One page that is to be written.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, as drawn.
        zoom: As in `Sampling`.
        most_tokens: After which its reply is cut.
    """

    pixels: Pixels
    zoom: float
    most_tokens: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What a batch has come to since it was asked for last.

    Attributes:
        pieces: ``(row, piece)`` in the order in which they were written.
        over: All rows have ended; nothing more comes.
        out_of_memory: The batch was given up because the GPU has too little memory for it.
    """

    pieces: tuple[tuple[int, Written | Ending], ...]
    over: bool = False
    out_of_memory: bool = False
