"""Addresses: their parts, and what of them may be shown."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpress.sources.inputs.address import (
    MemberAddress,
    is_remote,
    member_address,
    path_of,
    scheme_of,
    shown,
    split_remote,
    uri_of,
)


@given(
    st.text(min_size=1),
    st.none() | st.integers(0, 10**18),
)
def test_addresses_of_members_come_back(name: str, at: int | None) -> None:
    address = MemberAddress("zip", name, "/data/a::b?at=7::.zip", at)
    assert member_address(str(address)) == address


def test_bytes_in_names_of_members_come_back() -> None:
    name = os.fsdecode(b"bad-\xff.pdf")
    address = MemberAddress("tar", name, "s3://bucket/x.tar", 512)
    str(address).encode()
    assert member_address(str(address)) == address


def test_members_may_be_named_without_a_place() -> None:
    assert member_address("zip://a/b.pdf::/data/scans.zip") == MemberAddress(
        "zip", "a/b.pdf", "/data/scans.zip"
    )


@pytest.mark.parametrize("address", ["/data/a.pdf", "s3://bucket/a.zip", "zip:a.pdf"])
def test_other_addresses_are_no_members(address: str) -> None:
    assert member_address(address) is None


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_every_path_has_a_uri_that_can_be_stored(name: bytes) -> None:
    path = "/" + os.fsdecode(name)
    uri = uri_of(path)
    uri.encode()
    assert path_of(uri) == path


def test_schemes() -> None:
    assert scheme_of("S3://b/a") == "s3"
    assert scheme_of("/data/s3://b") == "file"
    assert scheme_of("C:/x") == "file"
    assert not is_remote("file:///a")
    assert is_remote("memory://a")


def test_secrets_are_not_shown() -> None:
    text = shown("cannot get https://me:pass@host/a.pdf?X-Amz-Signature=f00&x=1 in time")
    assert text == "cannot get https://host/a.pdf?... in time"
    assert shown("sftp://me@host/a") == "sftp://host/a"


def test_what_is_shown_is_one_line_of_valid_text() -> None:
    assert shown("a\nb\t\udcff\u202e.pdf") == "a\\nb\\t\\udcff\\u202e.pdf"


def test_signatures_are_no_part_of_a_place() -> None:
    signed = "https://h/p/a.pdf?v=2&X-Amz-Signature=1&Expires=99"
    assert split_remote(signed) == ("https", ("h", "p", "a.pdf"), "v=2")
    assert split_remote("s3://b/k?y/a.pdf") == ("s3", ("b", "k?y", "a.pdf"), "")
