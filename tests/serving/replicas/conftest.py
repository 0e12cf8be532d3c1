from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving.replicas.fleet import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path / "script.json")
    stage.tell()
    return stage
