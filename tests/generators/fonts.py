"""The fonts of generated pages.

Owns their files and their names in reportlab; a bare machine has no fonts of its own, and pages
must look the same everywhere.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

FOLDER = Path(__file__).resolve().parents[1] / "data" / "fonts"
LATIN_CHARACTERS = (
    "".join(chr(c) for c in range(0x20, 0x7F))
    + "".join(chr(c) for c in range(0xA1, 0x100))
    + "–—‘’“”•…†‡€™‐"
    + "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
    + "∂∆∏∑−√∞∫≈≠≤≥←↑→↓□■▪○●"
)


class Face(StrEnum):
    """Font names as reportlab knows them once `register` has run."""

    SERIF = "moonpress-test-serif"
    SERIF_BOLD = "moonpress-test-serif-bold"
    SERIF_ITALIC = "moonpress-test-serif-italic"
    SANS = "moonpress-test-sans"
    MONO = "moonpress-test-mono"
    HEI = "moonpress-test-hei"


def register() -> None:
    """Make all faces known to reportlab; cheap after the first time."""
    known = set(pdfmetrics.getRegisteredFontNames())
    for face in Face:
        if face.value not in known:
            pdfmetrics.registerFont(TTFont(face.value, str(FOLDER / f"{face.value}.ttf")))


def width_of(text: str, face: Face, size: float) -> float:
    """Width of ``text`` in points."""
    register()
    return float(pdfmetrics.stringWidth(text, face.value, size))
