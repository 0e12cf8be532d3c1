"""Ids are unique, lasting, and fit to be names of folders."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from moonpress.sources.inputs.ids import join_id, marked, place, safe_part, safe_parts

ANY_TEXT = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("./~@\\ \0\n\udcff"), max_size=300
)
LOOKALIKES = st.from_regex(r"[ab]{0,2}~[0-9a-f]{12}(\.pdf)?", fullmatch=True)
PARTS = ANY_TEXT | LOOKALIKES | LOOKALIKES.map(safe_part)


@given(PARTS)
def test_parts_are_fit_to_be_names_of_folders(part: str) -> None:
    safe = safe_part(part)
    assert 0 < len(safe.encode()) <= 180
    assert not safe.startswith((".", "@"))
    assert "/" not in safe
    assert "\\" not in safe
    assert all(ord(c) >= 32 and not 0x7F <= ord(c) < 0xA0 for c in safe)


@given(PARTS, PARTS)
def test_different_parts_stay_different(one: str, other: str) -> None:
    assert (safe_part(one) == safe_part(other)) == (one == other)


@given(PARTS)
def test_a_part_made_to_look_like_a_safe_one_differs_from_it(part: str) -> None:
    safe = safe_part(part)
    assert safe == part or safe_part(safe) != safe


@given(st.lists(PARTS, min_size=1, max_size=12), st.lists(PARTS, min_size=1, max_size=12))
def test_different_paths_have_different_ids(one: list[str], other: list[str]) -> None:
    ids = [join_id(safe_parts(path)) for path in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)
    assert all(len(id_.encode()) <= 900 for id_ in ids)
    assert not any(part in {"", ".", ".."} for id_ in ids for part in id_.split("/"))


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("report.pdf", "日本語 😀.pdf", "-rf '$(x)'.pdf", "..%2f.pdf"[2:], "a:b.pdf", "~"):
        assert safe_part(name) == name


def test_bad_names_stay_readable_and_keep_their_suffix() -> None:
    digest = hashlib.sha256(b"new\nline.pdf").hexdigest()[:12]
    assert safe_part("new\nline.pdf") == f"new_line~{digest}.pdf"
    assert safe_part("a" * 240 + ".pdf").startswith("aaaa")
    assert safe_part("a" * 240 + ".pdf").endswith(".pdf")
    assert safe_part(".hidden.pdf").startswith("_hidden~")
    assert safe_part("bad-\udcff.pdf").startswith("bad-_~")


def test_places_look_like_no_part() -> None:
    assert place("https") == "@https"
    assert safe_part("@https") != place("https")


def test_marks_depend_on_the_key() -> None:
    assert marked("report.pdf", "/a") != marked("report.pdf", "/b")
    assert marked("report.pdf", "/a").startswith("report~")
