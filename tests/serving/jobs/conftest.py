"""An office of its own for each test: a folder of jobs, and services over it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch import scripted_engine
from tests.serving.conftest import Start
from tests.serving.jobs.office import Office


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_engine.install(tmp_path_factory.mktemp("scripted"))


@pytest.fixture
def office(start: Start, tmp_path: Path, plugins: Path) -> Iterator[Office]:
    made = Office(start, tmp_path, plugins)
    yield made
    if made.served is not None and made.served.process.poll() is None:
        made.served.stop(signal.SIGKILL)
