"""Variants of the tiny model for the engine ``hf``, and torch for its worker process alone.

Owns where they come from. The environment that tests run in has no torch: the one made by
``install.sh`` is put behind it on the path, which worker processes inherit.
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.vllm.server import HERE, environment_folder

CONTEXT = 2400
_OUTPUTS = ("o_proj", "out_proj", "down_proj")
_CALM = np.float32(0.125)


def path_with_torch() -> list[str]:
    """The module path with torch at its end."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = environment_folder() / "lib" / version / "site-packages"
    if not packages.is_dir():
        pytest.skip(f"{environment_folder()} was made with another Python than {version}")
    return [str(HERE / "shims"), *sys.path, str(packages)]


def copy_calm(target: Path) -> Path:
    """The tiny model with a short context, and with layers that say little.

    The next token then depends on the last one more than on anything else, so that what is written
    greedily soon runs in a circle, as real models do on bad pages.
    """
    source = environment_folder() / "tiny-model"
    shutil.copytree(source, target)
    config = json.loads((source / "config.json").read_text())
    config["text_config"]["max_position_embeddings"] = CONTEXT
    (target / "config.json").write_text(json.dumps(config))
    data = bytearray((source / "model.safetensors").read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    start = 8 + length
    for name, entry in json.loads(data[8:start]).items():
        if "language_model" in name and any(part in name for part in _OUTPUTS):
            first, last = (start + offset for offset in entry["data_offsets"])
            data[first:last] = _times(data[first:last], _CALM)
    (target / "model.safetensors").write_bytes(data)
    return target


def _times(data: bytearray, factor: np.float32) -> bytes:
    """Numbers in bfloat16, which is the upper half of float32, times ``factor``."""
    whole = np.frombuffer(data, dtype=np.uint16).astype(np.uint32) << 16
    halves = (whole.view(np.float32) * factor).view(np.uint32) >> 16
    return halves.astype(np.uint16).tobytes()
