"""Whether a model has room on its GPUs.

Owns the arithmetic of memory, and the share of it that a replica may take. Never asks a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from moonpress.errors import EngineUnavailable
from moonpress.serving.replicas.flags import Flag, last_value
from moonpress.serving.replicas.gpus import Gpu
from moonpress.serving.replicas.weights import needed

UTILISATION = "--gpu-memory-utilization"
_TENSOR = "--tensor-parallel-size"
_MOST_DEVICES = 16
# vLLM's own, where neither the user nor a preset says it.
_DEFAULT_SHARE = 0.92
# Below that something else works on the GPU, which will want more.
_LEAST_SHARE = 0.80
# Of the memory that is free, so that a screen may change its size.
_SPARE_BYTES = 400_000_000


def fitted(group: Sequence[Gpu], flags: list[Flag], weights: int, *, firm: bool) -> list[Flag]:
    """The flags with a share of memory that is free.

    Args:
        group: The GPUs that share the model.
        flags: Of their replica.
        weights: Bytes.
        firm: Whether the share is the user's, which is left as it is.

    Raises:
        EngineUnavailable: the model does not fit, or others use a GPU.
    """
    share = _share(flags)
    need = needed(weights, len(group))
    lowered = share
    for gpu in group:
        if not gpu.memory:
            continue
        if gpu.memory * share < need:
            raise _too_small(gpu, need, weights, share)
        if firm:
            continue
        free = (gpu.memory - gpu.used - _SPARE_BYTES) / gpu.memory
        if free < share and gpu.used > _SPARE_BYTES:
            lowered = min(lowered, int(free * 100) / 100)
            if lowered < _LEAST_SHARE or gpu.memory * lowered < need:
                raise _in_use(gpu)
    if lowered == share:
        return flags
    kept = [flag for flag in flags if flag.about != UTILISATION]
    return [*kept, Flag(UTILISATION, (f"{lowered:g}",))]


def _too_small(gpu: Gpu, need: int, weights: int, share: float) -> EngineUnavailable:
    devices = 2
    while needed(weights, devices) > gpu.memory * share and devices < _MOST_DEVICES:
        devices *= 2
    return EngineUnavailable(
        f"GPU {gpu.device} ({gpu.name}) has {_gb(gpu.memory)}, of which {share:.0%} may be used, "
        f"and the model needs {_gb(need)} on it",
        hint=f"Share the model: {_TENSOR} {devices}",
    )


def _in_use(gpu: Gpu) -> EngineUnavailable:
    return EngineUnavailable(
        f"GPU {gpu.device} ({gpu.name}): {_gb(gpu.used)} of {_gb(gpu.memory)} are in use",
        hint="End what uses it (nvidia-smi shows it), leave it out with CUDA_VISIBLE_DEVICES, or "
        f"say with {UTILISATION} how much may be taken",
    )


def _share(flags: Sequence[Flag]) -> float:
    try:
        return float(last_value(flags, UTILISATION) or _DEFAULT_SHARE)
    except ValueError:
        # vLLM will say what is wrong with it.
        return _DEFAULT_SHARE


def least_devices(group: Sequence[Gpu], flags: Sequence[Flag], weights: int) -> int:
    """The fewest of these GPUs that hold the model."""
    smallest = min(gpu.memory for gpu in group)
    for count in range(1, len(group)):
        if not smallest or needed(weights, count) <= smallest * _share(flags):
            return count
    return len(group)


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
