from __future__ import annotations

import json as stdlib_json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpress.document import (
    BBox,
    Block,
    BlockKind,
    Document,
    Link,
    Metadata,
    Page,
    PageSize,
    PageStatus,
    Problem,
    RenderOptions,
    TextOrigin,
    Usage,
)
from moonpress.errors import InputCorrupt
from moonpress.outputs.json import json_schema, parse
from tests.outputs.sample import FIGURES, make_document

# What JSON can say: no halves of surrogate pairs, none of the characters that outputs take out.
TEXT = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff"),
    max_size=20,
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
BOXES = st.builds(BBox, NUMBER, NUMBER, NUMBER, NUMBER)
COUNT = st.integers(0, 2**53)
SIZES = st.builds(PageSize, st.floats(1, 1e5), st.floats(1, 1e5), COUNT, COUNT)
BLOCKS = st.builds(
    Block,
    id=TEXT,
    kind=st.sampled_from(BlockKind),
    bbox=BOXES,
    html=TEXT,
    level=st.none() | st.integers(1, 6),
    confidence=st.none() | st.floats(0, 1),
    links=st.lists(st.builds(Link, TEXT, BOXES, TEXT), max_size=2).map(tuple),
    origin=st.sampled_from(TextOrigin),
    font_size=st.none() | NUMBER,
    caption_for=st.none() | TEXT,
)
PAGES = st.builds(
    Page,
    number=COUNT,
    size=st.none() | SIZES,
    status=st.sampled_from(PageStatus),
    rotation=st.sampled_from([0, 90, 180, 270]),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    problems=st.lists(st.builds(Problem, TEXT, TEXT, st.none() | TEXT), max_size=2).map(tuple),
    usage=st.builds(
        Usage, TEXT, NUMBER, st.none() | NUMBER, st.none() | COUNT, st.none() | COUNT, COUNT
    ),
)
DOCUMENTS = st.builds(
    Document,
    source=TEXT,
    sha256=TEXT,
    pages=st.lists(PAGES, max_size=3).map(tuple),
    metadata=st.builds(Metadata, COUNT, TEXT, st.none() | TEXT, st.none() | TEXT, TEXT, TEXT),
)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
def test_the_way_back_loses_nothing(document: Document) -> None:
    text = document.to_json()
    assert parse(text) == document
    assert parse(text).to_json() == text


def test_sample_has_what_the_schema_promises() -> None:
    document = make_document()
    data = stdlib_json.loads(document.to_json(RenderOptions(figures=FIGURES)))
    assert data["schema_version"] == "1.0"
    assert list(data) == sorted(data)
    first = data["pages"][0]
    assert first["size"]["dpi"] == pytest.approx(200, abs=0.1)
    assert [b["id"] for b in first["blocks"]] == [f"p1-b{i}" for i in range(1, 15)]
    assert first["blocks"][11]["figure"] == "sample_files/p1-b12.png"
    assert first["blocks"][2]["text"] == "1. What costs $5 & more #"
    assert first["blocks"][3]["bbox"] == pytest.approx([0.1, 0.2, 0.9, 0.24])
    assert data["pages"][5]["blocks"][0]["continues"] == "p5-b4"
    assert data["pages"][6]["status"] == "failed"
    assert data["pages"][6]["problems"][0]["code"] == "page-timeout"
    assert parse(stdlib_json.dumps(data)) == document


def test_lone_surrogates_and_control_characters_can_be_written() -> None:
    block = Block("p1-b1", BlockKind.TEXT, BBox(0, 0, 1, 1), "<p>a\ud835b\x00c</p>")
    page = Page(1, None, PageStatus.OK, blocks=(block,))
    document = Document("x\udcff.pdf", "", (page,), Metadata(1, "application/pdf"))
    assert parse(document.to_json()).pages[0].blocks[0].html == "<p>a\ufffdbc</p>"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema_version": "2.0"}'])
def test_what_is_no_document_is_named(text: str) -> None:
    with pytest.raises(InputCorrupt) as caught:
        parse(text)
    assert "not a Moonpress document" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fields_of_a_later_minor_version_are_let_through() -> None:
    data = stdlib_json.loads(make_document().to_json())
    data["pages"][0]["blocks"][0]["colour"] = "red"
    assert parse(stdlib_json.dumps(data)) == make_document()


def test_schema_describes_every_block_field() -> None:
    schema = json_schema()
    fields = schema["$defs"]["BlockModel"]["properties"]
    names = set(Block.__dataclass_fields__) | {"text", "figure"}
    assert set(fields) == names
