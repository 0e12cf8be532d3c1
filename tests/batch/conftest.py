"""What the tests of whole runs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch import scripted_engine
from tests.batch.command import Batch, batch_in


@pytest.fixture(scope="session")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package of the scripted engine is found."""
    return scripted_engine.install(tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def batch(tmp_path: Path, plugins: Path) -> Iterator[Batch]:
    """The command in an empty folder."""
    made = batch_in(tmp_path / "work", plugins)
    yield made
    made.close()
