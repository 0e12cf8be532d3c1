"""What fonts look like by name and descriptor; the names are from real files."""

from __future__ import annotations

import pytest

from moonpress.sources.fonts import describe_font


def looks(name: str, *, flags: int = 32, weight: int = 400, italic_angle: int = 0) -> str:
    font = describe_font(name, flags=flags, weight=weight, italic_angle=italic_angle)
    marks = (("bold", font.bold), ("italic", font.italic), ("mono", font.mono))
    return " ".join(name for name, on in marks if on)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Helvetica", ""),
        ("ABCDEF+Times-BoldItalic", "bold italic"),
        ("Arial,Bold", "bold"),
        ("TimesNewRomanPS-BoldItalicMT", "bold italic"),
        ("CMBX12", "bold"),
        ("CMSSBX10", "bold"),
        ("SFBX1000", "bold"),
        ("CMTI8", "italic"),
        ("CMMI10", "italic"),
        ("CMR10", ""),
        ("CMTT9", "mono"),
        ("NimbusRomNo9L-Medi", "bold"),
        ("NimbusRomNo9L-ReguItal", "italic"),
        ("HelveticaNeue-Medium", ""),
        ("AdobeCorpID-MyriadBd", "bold"),
        ("AdobeCorpID-MyriadBdIt", "bold italic"),
        ("HelveticaNeueLTStd-Blk", "bold"),
        ("MinionPro-It", "italic"),
        ("AdvOT34fe1490.B", "bold"),
        ("AdvOT3a037357.I", "italic"),
        ("AdvOT6601a1b9.BI", "bold italic"),
        ("AdvOpti-B", "bold"),
        ("Courier", "mono"),
        ("LMMono10-Regular", "mono"),
        ("DejaVuSansMono-Oblique", "italic mono"),
        ("Monotype Corsiva", ""),
        ("BodoniMT", ""),
        ("", ""),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert looks(name) == expected


def test_the_prefix_of_a_subset_is_cut_off() -> None:
    assert describe_font("ABCDEF+Foo", flags=0, weight=0, italic_angle=0).name == "Foo"


def test_descriptors() -> None:
    assert looks("Foo", flags=1 << 18) == "bold"
    assert looks("Foo", flags=1 << 6) == "italic"
    assert looks("Foo", italic_angle=-12) == "italic"
    assert looks("Foo", weight=700) == "bold"
    assert looks("Foo", flags=1) == "mono"


def test_weights_derived_from_stems_do_not_count() -> None:
    assert looks("Arial", weight=695) == ""
    assert looks("NotoSans-Regular", weight=704) == ""
    assert looks("CIDFont", weight=4172) == ""
