"""Messages between parent and child."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from moonpress.processes.wire import HEADER_SIZE, SharedArea, body_size, decode, encode


def _round_trip(message: object, area: SharedArea | None) -> object:
    data = encode(message, area)
    assert body_size(data[:HEADER_SIZE]) == len(data) - HEADER_SIZE
    return decode(data[HEADER_SIZE:], area)


@given(st.recursive(st.none() | st.integers() | st.binary() | st.text(), st.lists))
def test_messages_come_back(message: object) -> None:
    assert _round_trip(message, None) == message


def test_large_buffers_bypass_the_pipe() -> None:
    area = SharedArea.create()
    assert area is not None
    try:
        arrays = [np.full(300_000, value, dtype=np.uint8) for value in (1, 2)]
        assert len(encode(arrays, area)) < 2_000
        back = _round_trip(arrays, area)
        assert isinstance(back, list)
        assert [int(array.sum()) for array in back] == [300_000, 600_000]
        assert _round_trip("small", area) == "small"
    finally:
        area.close()


def test_without_an_area_buffers_travel_in_the_message() -> None:
    array = np.arange(100_000)
    assert np.array_equal(np.asarray(_round_trip(array, None)), array)
