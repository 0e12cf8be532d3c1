"""Both runtimes give the same answers, and neither calls home."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from moonpress.engines.embedded.runtime import Network

MODELS = Path(str(files("moonpress.engines.embedded.models")))


def _without_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)


def test_runtimes_agree_with_and_without_fewer_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openvino")
    classes = np.arange(0, 200, 3)
    batch = np.random.default_rng(1).random((1, 3, 48, 320), dtype=np.float32)
    path = MODELS / "ppocrv6_tiny_rec.onnx"
    fast = Network(path, 1).run(batch).copy()
    fewer = Network(path, 1, classes).run(batch).copy()
    _without_openvino(monkeypatch)
    plain = Network(path, 1).run(batch)
    assert fast.argmax(axis=2).tolist() == plain.argmax(axis=2).tolist()
    assert fewer.shape[2] == len(classes)
    plain_fewer = Network(path, 1, classes).run(batch)
    assert fewer.argmax(axis=2).tolist() == plain_fewer.argmax(axis=2).tolist()


def test_openvino_does_not_load_its_telemetry() -> None:
    pytest.importorskip("openvino")
    program = (
        "import sys; from pathlib import Path;"
        "from moonpress.engines.embedded.runtime import Network;"
        f"Network(Path({str(MODELS / 'page_orientation.onnx')!r}), 1).metadata('character');"
        "sys.exit(any(name.startswith('openvino_telemetry') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert done.returncode == 0


def test_nothing_is_loaded_before_it_is_needed() -> None:
    program = (
        "import sys; from moonpress.engines.embedded.prepare import TextStage;"
        "from moonpress.engines.embedded.settings import EmbeddedSettings;"
        "TextStage(EmbeddedSettings());"
        "sys.exit(bool({'openvino', 'onnxruntime', 'rapidocr', 'cv2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert done.returncode == 0
