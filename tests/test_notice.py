"""NOTICE lists every model weight that Moonpress carries or uses, with the sum of the very file."""

from __future__ import annotations

import hashlib
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

_ENTRY = re.compile(
    r"^(?P<file>\S+)\n"
    r"  sha256    (?P<sha256>[0-9a-f]{64})\n"
    r"  purpose   .+\n"
    r"  from      PyPI package \S+ [\d.]+, file\s.+\n(?:            .+\n)?"
    r"  upstream  .+\n(?:            .+\n)*"
    r"  licence   .+\n",
    re.MULTILINE,
)


def _package_folder(package: str, folder: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / folder


@pytest.fixture(scope="module")
def listed(checkout: Path) -> dict[str, str]:
    text = (checkout / "NOTICE").read_text(encoding="utf-8")
    assert text.count("sha256    ") == len(_ENTRY.findall(text)), "an entry is incomplete"
    return {entry["file"]: entry["sha256"] for entry in _ENTRY.finditer(text)}


def _sums(folder: Path) -> dict[str, str]:
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".py"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_every_weight_is_listed_with_its_sum_and_nothing_else(listed: dict[str, str]) -> None:
    carried = _sums(_package_folder("moonpress", "engines/embedded/models"))
    assert len(carried) >= 8
    assert carried == listed


def test_no_weight_lies_anywhere_else(checkout: Path) -> None:
    models = checkout / "src" / "moonpress" / "engines" / "embedded" / "models"
    strays = [
        path
        for folder in ("src", "tests", "benchmarks", "docs")
        for path in (checkout / folder).rglob("*")
        if path.suffix in {".onnx", ".safetensors", ".pt", ".pth", ".pdparams", ".traineddata"}
        and path.parent != models
    ]
    assert strays == []
