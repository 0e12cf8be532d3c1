"""Object stores, by fsspec's store in memory: listing, reading, and what failures mean.

What is particular to S3 and GCS is in their backends and not tested here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from moonpress.errors import (
    InputError,
    InputMissing,
    InputNotAFile,
    InputUnreadable,
    UnsupportedInput,
)
from moonpress.sources.inputs.find import FindOptions
from moonpress.sources.inputs.item import InputItem
from moonpress.sources.inputs.opening import Opener
from tests.sources.inputs.helpers import (
    found,
    ids,
    options,
)


@pytest.fixture
def using(tmp_path: Path) -> Iterator[FindOptions]:
    made = options(tmp_path / "scratch")
    yield made
    made.copies.close()
    assert not list((tmp_path / "scratch").iterdir())


@pytest.fixture
def opener(using: FindOptions) -> Iterator[Opener]:
    with Opener(using.copies) as made:
        yield made


@pytest.fixture
def store() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    yield files
    files.store.clear()


def read(opener: Opener, item: InputItem) -> bytes:
    with opener.opened(item) as path:
        assert path.exists()
        data = path.read_bytes()
    assert not path.exists()
    return data


def item(uri: str) -> InputItem:
    return InputItem("x", uri, "shown name")


def test_a_store(store: Any, using: FindOptions, opener: Opener) -> None:
    for name in ("b/a.pdf", "b/sub/a.pdf", "b/README.md", "b/.x/a.pdf", "c/a.pdf"):
        store.pipe(f"/{name}", name.encode())
    items, problems = found(["memory://b"], using)
    assert not problems
    assert ids(items) == ["a.pdf", "sub/a.pdf"]
    assert items[1].uri == "memory://b/sub/a.pdf"
    assert items[1].size == len("b/sub/a.pdf")
    assert items[1].version
    assert read(opener, items[1]) == b"b/sub/a.pdf"
    items, _ = found(["memory://b", "memory://c/a.pdf"], using)
    assert ids(items) == ["b/a.pdf", "b/sub/a.pdf", "a.pdf"]
    items, _ = found(["memory://*/sub/*.pdf", "memory://b/**/*.pdf"], using)
    assert ids(items) == ["a.pdf", "sub/a.pdf"]


def test_what_is_missing_in_a_store(store: Any, using: FindOptions, opener: Opener) -> None:
    store.pipe("/b/a.pdf", b"x")
    _, problems = found(["memory://b/no.pdf", "memory://no/*.pdf", "memory://b/*.png"], using)
    assert [type(problem.error) for problem in problems] == [InputMissing] * 3
    with pytest.raises(InputMissing):
        read(opener, item("memory://b/no.pdf"))


def test_lists_and_manifests_in_a_store(store: Any, using: FindOptions) -> None:
    store.pipe("/b/list.txt", b"sub/a.pdf\nmemory://c/b.pdf\n")
    store.pipe("/b/m.jsonl", b'{"path": "sub/a.pdf"}\n')
    items, problems = found(["@memory://b/list.txt"], using)
    assert not problems
    assert ids(items) == ["sub/a.pdf", "@memory/c/b.pdf"]
    assert items[0].uri == "memory://b/sub/a.pdf"
    items, _ = found(["memory://b/m.jsonl"], using)
    assert ids(items) == ["sub/a.pdf"]


def test_names_that_cannot_be_addressed_are_told(store: Any, using: FindOptions) -> None:
    store.pipe("/b/a::b.pdf", b"x")
    store.pipe("/b/c.pdf", b"x")
    items, problems = found(["memory://b"], using)
    assert ids(items) == ["c.pdf"]
    assert "'::'" in problems[0].error.message


def test_a_backend_that_is_missing_is_named(
    using: FindOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(address: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    _, problems = found(["s3://bucket/a.pdf", "gs://bucket/"], using)
    assert [str(problem.error).partition(" [")[0] for problem in problems] == [
        "s3://bucket/a.pdf: what reads s3:// addresses is not installed. "
        "pip install 'moonpress[s3]'",
        "gs://bucket/: what reads gs:// addresses is not installed. pip install 'moonpress[gcs]'",
    ]


def test_schemes_that_nobody_knows_are_told(using: FindOptions) -> None:
    _, problems = found(["nonsense://a/b.pdf"], using)
    assert isinstance(problems[0].error, UnsupportedInput)


class Failing:
    """A store of which everything fails in one way."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.tries = 0

    def invalidate_cache(self, path: str) -> None:
        pass

    def info(self, path: str) -> None:  # noqa: ARG002 - as fsspec has it
        self.tries += 1
        raise self.error


@pytest.mark.parametrize(
    ("error", "kind", "tries"),
    [
        (PermissionError("no"), InputUnreadable, 1),
        (IsADirectoryError("no"), InputNotAFile, 1),
        (RuntimeError("bad key in s3://me:secret@b/a.pdf?sig=secret\nmore"), InputUnreadable, 1),
        (ConnectionResetError("reset"), InputUnreadable, 4),
        (TimeoutError(), InputUnreadable, 4),
    ],
)
def test_failures_of_stores_are_typed(
    using: FindOptions,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    kind: type[InputError],
    tries: int,
) -> None:
    files = Failing(error)
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda address: (files, address))
    _, (problem,) = found(["s3://b/a.pdf"], using)
    assert type(problem.error) is kind
    assert files.tries == tries
    assert "secret" not in str(problem.error)


class Paged:
    """What s3fs has of listing, over some keys, three a page; the second page fails once."""

    def __init__(self, *keys: str) -> None:
        self.keys = sorted(keys)
        self.req_kw = {"RequestPayer": "requester"}
        self.failed = False

    def invalidate_cache(self, path: str) -> None:
        pass

    def info(self, path: str) -> dict[str, Any]:
        return {"name": path, "type": "directory"}

    def call_s3(self, method: str, payer: dict[str, str], **asked: str) -> dict[str, Any]:
        assert (method, payer, asked["Bucket"]) == ("list_objects_v2", self.req_kw, "bucket")
        prefix, start = asked["Prefix"], int(asked.get("ContinuationToken", "0"))
        if start and not self.failed:
            self.failed = True
            raise ConnectionResetError("reset")
        tails = [key.removeprefix(prefix) for key in self.keys if key.startswith(prefix)]
        # What lies deeper is one common prefix.
        rolled = list(dict.fromkeys(part + slash for part, slash, _ in map(_cut, tails)))
        page = rolled[start : start + 3]
        more = {"NextContinuationToken": str(start + 3)} if start + 3 < len(rolled) else {}
        return {
            "CommonPrefixes": [{"Prefix": prefix + tail} for tail in page if tail.endswith("/")],
            "Contents": [
                {"Key": prefix + tail, "Size": 7, "ETag": "e"}
                for tail in page
                if not tail.endswith("/")
            ],
            **more,
        }


def _cut(tail: str) -> tuple[str, str, str]:
    return tail.partition("/")


def test_s3_is_listed_page_by_page(using: FindOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["p/", "p/a.pdf", "p/b/c.pdf", "p/b/d.pdf", "p/e/.x", "p/f.png", "p/g//h.pdf", "p/z.pdf"]
    files = Paged(*keys)
    monkeypatch.setattr(
        "fsspec.core.url_to_fs", lambda address: (files, address.removeprefix("s3://").rstrip("/"))
    )
    items, (problem,) = found(["s3://bucket/p/"], using)
    assert files.failed
    assert ids(items) == ["a.pdf", "b/c.pdf", "b/d.pdf", "f.png", "z.pdf"]
    assert (items[0].size, items[0].version) == (7, "7-e")
    assert "without a name" in problem.error.message
