"""What a font's name and descriptor tell of its looks.

Owns the guesses bold, italic and fixed-width. Never looks at glyphs and never calls the PDF
library.

Names are the best witness: nearly every font that is bold or italic says so. Descriptors are worse
than they look. Most weights are derived from a stem width that producers invent (plain Arial with
695, Noto Regular with 704), so only the round ones of a declared weight count; the fixed-width flag
stands on ordinary Palatino and Roboto, so widths have to agree with it.
"""

from __future__ import annotations

import re

from moonpress.document import Font

# Bits of /Flags in a font descriptor (ISO 32000-1, table 123).
_FIXED_PITCH = 1 << 0
_ITALIC_FLAG = 1 << 6
_FORCE_BOLD = 1 << 18
_DECLARED_BOLD = frozenset({700, 800, 900})
_LEAST_ANGLE = 4

_SUBSET = re.compile(r"^(?:[A-Z]{6}\+)+")
# Beside plain words: TeX's cmbx, URW's Medi (its bold), Adobe's Bd and Elsevier's .B and -B.
_BOLD = re.compile(
    r"bold|black|heavy|demi|(?:cm|sf|lm)(?:ss)?bx|-medi(?:ital)?$|"
    r"(?-i:(?:Bd|Blk)(?![a-z]))|[.-]bi?\b",
    re.IGNORECASE,
)
_ITALIC = re.compile(
    r"ital|oblique|slanted|kursiv|(?:cm|sf)(?:bx)?(?:ti|sl|mi)\d|(?-i:(?:It|Obl)(?![a-z]))|[.-]b?i\b",
    re.IGNORECASE,
)
_MONO = re.compile(
    r"courier|mono(?!type)|consol|menlo|typewriter|inconsolata|source ?code|lettergothic|"
    r"(?:cm|sf)(?:sl|it)?tt\d",
    re.IGNORECASE,
)


def describe_font(name: str, *, flags: int, weight: int, italic_angle: int) -> Font:
    """A font by its PostScript name (a subset's prefix is cut off) and its descriptor.

    Args:
        name: Such as ``ABCDEF+Times-BoldItalic``.
        flags: /Flags of its descriptor.
        weight: CSS-like, 400 is regular; 0 when unknown.
        italic_angle: Degrees; negative leans to the right.
    """
    name = _SUBSET.sub("", name)
    return Font(
        name=name,
        bold=bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD) or weight in _DECLARED_BOLD,
        italic=bool(_ITALIC.search(name))
        or bool(flags & _ITALIC_FLAG)
        or abs(italic_angle) >= _LEAST_ANGLE,
        mono=bool(_MONO.search(name)) or bool(flags & _FIXED_PITCH),
    )


def is_surely_mono(font: Font) -> bool:
    """Whether the name alone says that the font is of fixed width."""
    return bool(_MONO.search(font.name))
