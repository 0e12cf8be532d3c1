"""``CUDA_VISIBLE_DEVICES``: which GPUs the user leaves to this service.

Owns reading that variable. Never changes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moonpress.errors import UsageError
from moonpress.serving.replicas.gpus import Gpu

VARIABLE = "CUDA_VISIBLE_DEVICES"
_NONE = "-1"


def visible(gpus: Sequence[Gpu], environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The GPUs that may be used, in the order in which the variable names them.

    Numbers are those of ``nvidia-smi``; parts of UUIDs will do, as CUDA has it.

    Raises:
        UsageError: the variable names a GPU that is not there, or one twice. CUDA would silently
            use none of those behind it.
    """
    text = environment.get(VARIABLE)
    if text is None or not gpus:
        return tuple(gpus)
    found: list[Gpu] = []
    for entry in text.split(","):
        name = entry.strip()
        if name in {"", _NONE}:
            break
        gpu = _find(name, gpus)
        if gpu is None:
            devices = ",".join(one.device for one in gpus)
            message = f"{VARIABLE}={text} names {name}, which is not there"
            raise UsageError(message, hint=f"Unset it, or choose among {VARIABLE}={devices}")
        if gpu in found:
            raise UsageError(f"{VARIABLE}={text} names {name} twice", hint="Name each GPU once")
        found.append(gpu)
    return tuple(found)


def _find(name: str, gpus: Sequence[Gpu]) -> Gpu | None:
    for gpu in gpus:
        if gpu.device == name or (name.startswith(("GPU-", "MIG-")) and gpu.uuid.startswith(name)):
            return gpu
    return None
