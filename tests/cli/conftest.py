"""What the tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Chandra, clean_environment, install_scripted_engine
from tests.cli.small_pdf import small_pdf


@pytest.fixture(scope="session")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripted engine's package."""
    folder = tmp_path_factory.mktemp("plugins")
    install_scripted_engine(folder)
    return folder


@pytest.fixture
def chandra(tmp_path: Path, plugins: Path) -> Chandra:
    """The command, in an empty folder but for ``three.pdf``, which has three pages."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "three.pdf").write_bytes(small_pdf(3))
    return Chandra(folder, clean_environment(plugins))
