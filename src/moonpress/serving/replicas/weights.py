"""The weights of a model on this machine's disk, and how much room they take.

Owns looking for them and the arithmetic of a GPU's memory. Never fetches anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

DEFAULT_MODEL = "datalab-to/chandra-ocr-2"
LICENCE = (
    "Chandra's are under a modified OpenRAIL-M: free for research, personal use and small firms"
)
# Work space of one process: activations, CUDA's own, the pages that are read at the least.
WORK_BYTES = 2_500_000_000
_PUBLISHED = {"datalab-to/chandra-ocr-2": 10_600_000_000, "datalab-to/chandra": 17_600_000_000}
_SUFFIXES = {".safetensors", ".bin", ".gguf"}


def hub_folder(environment: Mapping[str, str]) -> Path:
    """Where the Hugging Face hub's files are kept."""
    if named := environment.get("HF_HUB_CACHE"):
        return Path(named)
    home = environment.get("HF_HOME")
    cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(home) if home else cache / "huggingface") / "hub"


def size_here(model: str, environment: Mapping[str, str]) -> int | None:
    """Bytes of a model's weights on this disk; ``None`` where they are not.

    Args:
        model: A folder, or a name of the Hugging Face hub.
        environment: Variables that say where the hub's files are.
    """
    if Path(model).is_dir():
        return _size(Path(model).iterdir())
    snapshots = hub_folder(environment) / f"models--{model.replace('/', '--')}" / "snapshots"
    try:
        sizes = [_size(folder.iterdir()) for folder in snapshots.iterdir() if folder.is_dir()]
    except OSError:
        return None
    return max((size for size in sizes if size), default=None)


def size_of(model: str, environment: Mapping[str, str]) -> int | None:
    """Bytes of a model's weights, here or as published; ``None`` where nobody knows."""
    return size_here(model, environment) or _PUBLISHED.get(model.lower())


def needed(weights: int, devices: int) -> int:
    """Bytes that each of the GPUs which share a model needs at the least."""
    return weights // devices + WORK_BYTES


def _size(files: Iterable[Path]) -> int:
    # The hub's cache has links to files of which the last may still be on their way.
    found = (path for path in files if path.suffix in _SUFFIXES and path.exists())
    return sum(path.stat().st_size for path in found)
