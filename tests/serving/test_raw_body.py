"""Tests of `moonpress.serving.raw_body`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpress.serving.raw_body import without_raw_field

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("output_format"), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (b'{"output_format": "raw"}', b"{}"),
        (b'{"output_format":"raw","model":"x"}', b'{"model":"x"}'),
        (b'{"model":"x", "output_format" : "raw" }', b'{"model":"x"}'),
        (b'{"a": [{"b": "}"}], "output_format": "raw", "c": 1}', b'{"a": [{"b": "}"}],  "c": 1}'),
        (b'{"output_format": "markdown"}', None),
        (b'{"extra": {"output_format": "raw"}}', None),
        (rb'{"text": "\"output_format\": \"raw\""}', None),
        (rb'{"text": "{\"output_format\": \"raw\"", "n": {"output_format": "raw"}}', None),
        (b'{"messages": []}', None),
        (b'"output_format": "raw"', None),
        (b'{"output_format', None),
    ],
)
def test_only_the_own_field_goes(body: bytes, left: bytes | None) -> None:
    assert without_raw_field(body) == left


@given(
    st.dictionaries(st.text().filter(lambda k: k != "output_format"), _JSON),
    st.integers(min_value=0),
    st.booleans(),
)
def test_nothing_else_changes(fields: dict[str, Any], at: int, spaced: bool) -> None:
    indent = 1 if spaced else None
    assert without_raw_field(json.dumps(fields, indent=indent).encode()) is None
    items = list(fields.items())
    items.insert(at % (len(items) + 1), ("output_format", "raw"))
    left = without_raw_field(json.dumps(dict(items), indent=indent).encode())
    assert left is not None
    assert json.loads(left) == fields
    assert list(json.loads(left)) == list(fields)
