"""A replica that lost a GPU, on those that are left.

Owns the smaller plan. Never looks which GPUs are there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from moonpress.serving.replicas.spec import ReplicaSpec

_TENSOR, _PIPELINE = "--tensor-parallel-size", "--pipeline-parallel-size"


def shrink(spec: ReplicaSpec, alive: Collection[str]) -> ReplicaSpec | None:
    """The same replica on those of its GPUs that are left.

    Args:
        spec: As it was planned, or as it is after an earlier loss.
        alive: Devices that the driver still has.

    Returns:
        The replica itself when all are alive; one on the largest group that those left allow; or
        ``None`` where they do not hold the model.
    """
    left = tuple(device for device in spec.devices if device in alive)
    if left == spec.devices:
        return spec
    tensor, pipeline = (_size(spec.arguments, flag) for flag in (_TENSOR, _PIPELINE))
    sizes = [
        (tensor // t, pipeline // p)
        for t in range(1, tensor + 1)
        for p in range(1, pipeline + 1)
        if tensor % t == 0 and pipeline % p == 0
    ]
    fitting = [(t * p, t, p) for t, p in sizes if spec.least_devices <= t * p <= len(left)]
    if not fitting:
        return None
    count, tensor, pipeline = max(fitting)
    arguments = _with_sizes(spec.arguments, tensor, pipeline)
    return replace(spec, devices=left[:count], arguments=arguments)


def _size(arguments: Sequence[str], flag: str) -> int:
    for at, word in enumerate(arguments):
        if word == flag:
            return int(arguments[at + 1])
    return 1


def _with_sizes(arguments: Sequence[str], tensor: int, pipeline: int) -> tuple[str, ...]:
    kept: list[str] = []
    skip = False
    for word in arguments:
        if not skip and word not in {_TENSOR, _PIPELINE}:
            kept.append(word)
        skip = word in {_TENSOR, _PIPELINE}
    for flag, size in ((_TENSOR, tensor), (_PIPELINE, pipeline)):
        if size > 1:
            kept += [flag, str(size)]
    return tuple(kept)
