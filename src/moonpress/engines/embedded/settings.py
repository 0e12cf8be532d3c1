"""What can be chosen about the embedded engine.

Owns `EmbeddedSettings`. Never reads environment variables or command lines: the edges do, and pass
one of these down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

OcrMode: TypeAlias = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """Choices for the embedded engine.

    Attributes:
        fast: Use the smallest recogniser: about three times faster, weaker on bad scans.
        languages: Names of tesseract language packs (``ara``, ``hin``, ``rus`` ...) to read pages
            without a usable text layer with, instead of the built-in recogniser.
        threads: Threads a model may use; two processes of one thread beat one of two.
        ocr: ``auto`` reads pictures of text where the text layer cannot be trusted, ``always``
            ignores text layers, ``never`` uses nothing but text layers.
    """

    fast: bool = False
    languages: tuple[str, ...] = ()
    threads: int = 1
    ocr: OcrMode = "auto"
