"""What people read when a model cannot be had, for the errors that the libraries raise."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.engines.hf.complaints import cannot_load
from moonpress.errors import EngineUnavailable, MoonpressError, UnknownName


def failed(*names: str) -> OSError:
    """As transformers raises it: an OSError, caused by what the hub's client or torch said."""
    error: BaseException | None = None
    for name in names:
        cause, error = error, type(name, (Exception,), {})("what the library says. More of it.")
        error.__cause__ = cause
    outer = OSError("We could not do it. Have a look at our documentation.")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        (("GatedRepoError",), EngineUnavailable, "accept its licence.*hf auth login"),
        (("RepositoryNotFoundError",), UnknownName, "has no model 'a/b'"),
        (("ConnectError", "LocalEntryNotFoundError"), EngineUnavailable, "not reached.*OpenRAIL-M"),
        (("OutOfMemoryError",), EngineUnavailable, "too little memory for the model a/b"),
        ((), EngineUnavailable, r"cannot be loaded: We could not do it \["),
    ],
)
def test_each_cause_is_one_line(
    names: tuple[str, ...], kind: type[MoonpressError], words: str
) -> None:
    error = cannot_load("a/b", failed(*names))
    assert type(error) is kind
    with pytest.raises(kind, match=words):
        raise error
    assert "\n" not in str(error)


def test_a_folder_is_to_blame_itself(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="holds no model that can be loaded: We could not"):
        raise cannot_load(str(tmp_path), failed("LocalEntryNotFoundError"))


def test_what_is_already_said_stays() -> None:
    error = EngineUnavailable("the package chandra-ocr is not installed")
    assert cannot_load("a/b", error) is error
