"""Tests of `moonpress.serving.keys`."""

from __future__ import annotations

import hashlib

import pytest

from moonpress.errors import EngineBusy, KeyRefused, UsageError
from moonpress.serving.keys import Keys


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_keys_everybody_may_ask() -> None:
    with Keys(["", "  # nothing"]).admitted(None) as name:
        assert name == ""


@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic c2VjcmV0", "Bearer other"])
def test_others_are_refused(header: str | None) -> None:
    with pytest.raises(KeyRefused), Keys(["secret"]).admitted(header):
        pass


def test_a_key_may_be_kept_as_its_hash() -> None:
    keys = Keys([f"sha256:{hashlib.sha256(b'secret').hexdigest()} team  # of the archive"])
    with keys.admitted("Bearer secret") as name:
        assert name == "team"


def test_requests_at_once_are_bounded() -> None:
    keys = Keys(["secret team 1"])
    with (
        keys.admitted("Bearer secret"),
        pytest.raises(EngineBusy),
        keys.admitted("Bearer secret"),
    ):
        pass
    with keys.admitted("Bearer secret"):
        pass


def test_requests_a_minute_are_bounded_and_come_back() -> None:
    clock = _Clock()
    keys = Keys(["secret team 9 2"], clock=clock)
    clock.now = 1.0
    for _ in range(2):
        with keys.admitted("Bearer secret"):
            pass
    with pytest.raises(EngineBusy) as caught, keys.admitted("Bearer secret"):
        pass
    assert 0 < caught.value.retry_after <= 30
    clock.now += 30
    with keys.admitted("Bearer secret"):
        pass


def test_a_line_that_cannot_be_read_is_told() -> None:
    with pytest.raises(UsageError, match="line 2"):
        Keys(["good", "secret team many"])
