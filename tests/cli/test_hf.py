"""``chandra-pdf --engine hf`` where torch is not installed; the rest is in ``tests/vllm``."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.cli.command import Chandra


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_its_extra_the_engine_says_how_to_install_it(chandra: Chandra) -> None:
    result = chandra("three.pdf", "--engine", "hf")
    assert result.code == 5
    assert result.line == (
        "error: three.pdf: the engine hf needs the package torch, which is not installed."
        " Run pip install 'moonpress[hf]' [engine-unavailable]"
    )
    assert chandra.files() == {"three.pdf"}
