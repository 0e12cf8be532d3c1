"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import moonpress
from moonpress.engines import registry
from moonpress.engines.registry import EngineOptions, create_engine, engine_names
from moonpress.errors import EngineUnavailable, UnknownName


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="'oracle'") as caught:
        create_engine("oracle", EngineOptions())
    assert caught.value.hint == f"Choose among {', '.join(engine_names())}"
    assert {"auto", "embedded", "hf", "vllm"} <= set(engine_names())


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes ``module`` the home of the only engine; modules lie in ``tmp_path``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(moonpress, "__path__", [*moonpress.__path__, str(tmp_path)])

    def make(module: str) -> None:
        def only_this(*, group: str, name: str) -> list[EntryPoint]:
            return [EntryPoint(name=name, value=f"{module}:create", group=group)]

        monkeypatch.setattr(registry, "entry_points", only_this)

    return make


@pytest.mark.parametrize(
    ("module", "hint"),
    [("moonpress.some_engine", "Run pip install 'moonpress[some]'"), ("another_engine", "")],
)
def test_an_engine_whose_packages_are_missing_says_so(
    offer: Callable[[str], None], tmp_path: Path, module: str, hint: str
) -> None:
    offer(module)
    (tmp_path / f"{module.rpartition('.')[2]}.py").write_text("import a_package_nobody_has.part\n")
    with pytest.raises(EngineUnavailable, match="needs the package a_package_nobody_has") as caught:
        create_engine("some", EngineOptions())
    assert caught.value.hint == hint


def test_an_engine_that_is_not_there_itself_is_a_bug(offer: Callable[[str], None]) -> None:
    offer("no_such_engine")
    with pytest.raises(ModuleNotFoundError, match="no_such_engine"):
        create_engine("some", EngineOptions())
