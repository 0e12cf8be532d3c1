"""Cut the fonts of ``tests/data/fonts`` out of the fonts they come from.

Run by hand when the vocabulary of `tests.generators.words` grows, with the TrueType files of
Liberation 2 (Debian's fonts-liberation2) and Noto Sans CJK (fonts-noto-cjk) at hand:

    python -m tests.generators.subset_fonts LIBERATION_FOLDER NOTO_SANS_CJK.ttc

Both are under the SIL Open Font License; subsets are modified versions, so they get names of
their own. Outlines of Noto are turned into TrueType ones because reportlab embeds no others.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable

from tests.generators.fonts import FOLDER, LATIN_CHARACTERS
from tests.generators.words import all_chinese

_LATIN = {
    "moonpress-test-serif.ttf": ("LiberationSerif-Regular.ttf", "Moonpress Test Serif"),
    "moonpress-test-serif-bold.ttf": ("LiberationSerif-Bold.ttf", "Moonpress Test Serif Bold"),
    "moonpress-test-serif-italic.ttf": (
        "LiberationSerif-Italic.ttf",
        "Moonpress Test Serif Italic",
    ),
    "moonpress-test-sans.ttf": ("LiberationSans-Regular.ttf", "Moonpress Test Sans"),
    "moonpress-test-mono.ttf": ("LiberationMono-Regular.ttf", "Moonpress Test Mono"),
}
_SIMPLIFIED = 2
_NO_HINTING = (
    "maxTwilightPoints",
    "maxStorage",
    "maxFunctionDefs",
    "maxInstructionDefs",
    "maxStackElements",
    "maxSizeOfInstructions",
    "maxComponentElements",
)
_MAX_ERROR = 1.0


def main() -> None:
    """Write all fonts of the folder."""
    liberation, noto = Path(sys.argv[1]), Path(sys.argv[2])
    for target, (source, name) in _LATIN.items():
        font = TTFont(liberation / source)
        _cut(font, LATIN_CHARACTERS)
        _rename(font, name)
        font.save(FOLDER / target)
    font = TTFont(noto, fontNumber=_SIMPLIFIED)
    _cut(font, LATIN_CHARACTERS + all_chinese())
    _rename(font, "Moonpress Test Hei")
    _to_truetype(font)
    font.save(FOLDER / "moonpress-test-hei.ttf")


def _cut(font: TTFont, characters: str) -> None:
    options = subset.Options()
    options.layout_features = []
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "BASE", "FFTM", "VORG", "vhea", "vmtx", "DSIG"]
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(font)


def _rename(font: TTFont, name: str) -> None:
    table = font["name"]
    copyright_lines = {record.toUnicode() for record in table.names if record.nameID == 0}
    table.names = []
    compact = name.replace(" ", "-")
    notice = " ".join(sorted(copyright_lines)) + " Subset, renamed, for Moonpress's tests."
    texts = {0: notice, 1: name, 2: "Regular", 3: compact, 4: name, 6: compact}
    texts[13] = "SIL Open Font License, Version 1.1"
    for number, text in texts.items():
        table.setName(text, number, 3, 1, 0x409)


def _to_truetype(font: TTFont) -> None:
    """Replace cubic CFF outlines by quadratic ones."""
    glyphs = font.getGlyphSet()
    order = font.getGlyphOrder()
    outlines = {}
    for glyph in order:
        pen = TTGlyphPen(glyphs)
        glyphs[glyph].draw(Cu2QuPen(pen, _MAX_ERROR, reverse_direction=True))
        outlines[glyph] = pen.glyph()
    del font["CFF "]
    font["loca"] = newTable("loca")
    table = font["glyf"] = newTable("glyf")
    table.glyphOrder = order
    table.glyphs = outlines
    maximums = font["maxp"]
    maximums.tableVersion = 0x00010000
    maximums.maxZones = 1
    for field in _NO_HINTING:
        setattr(maximums, field, 0)
    font["post"].formatType = 3.0
    font.sfntVersion = "\x00\x01\x00\x00"


if __name__ == "__main__":
    main()
