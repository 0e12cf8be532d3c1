"""The GPUs of this machine, as NVIDIA's driver tells of them.

Owns asking NVML. Never decides what runs where, and never touches a GPU's settings. Without a
driver, or without the package nvidia-ml-py, there are no GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

_OK = 0
# The package gives this one as a tuple, for a stray comma.
_CAN_READ = 0


class Nvml(Protocol):
    """What is used of the module ``pynvml``; handles are opaque."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: D102, N802
    def nvmlShutdown(self) -> None: ...  # noqa: D102, N802
    def nvmlSystemGetDriverVersion(self) -> str: ...  # noqa: D102, N802
    def nvmlSystemGetCudaDriverVersion(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetName(self, handle: Any) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetUUID(self, handle: Any) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetMigMode(self, handle: Any) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Any) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any: ...  # noqa: D102, N802
    def nvmlDeviceGetP2PStatus(self, one: Any, other: Any, kind: int) -> int: ...  # noqa: D102, N802


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or one instance of a GPU that is cut into several (MIG).

    Attributes:
        device: What ``CUDA_VISIBLE_DEVICES`` calls it when ``CUDA_DEVICE_ORDER`` is ``PCI_BUS_ID``:
            its number as ``nvidia-smi`` shows it, or the UUID of an instance.
        name: Such as ``NVIDIA H100 80GB HBM3``.
        uuid: The driver's.
        memory: Bytes; 0 where the driver does not tell.
        used: Bytes in use now.
        capability: Of its processor, such as (9, 0); ``None`` where the driver does not tell.
    """

    device: str
    name: str
    uuid: str
    memory: int
    used: int
    capability: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """The GPUs of a machine.

    Attributes:
        gpus: In the driver's order.
        driver: Its version; ``None`` where there is none.
        cuda: The newest CUDA that the driver runs, such as (13, 0).
        apart: Pairs of devices that cannot read each other's memory.
        reason: Why there are no GPUs; empty when there are.
    """

    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    cuda: tuple[int, int] | None = None
    apart: tuple[tuple[str, str], ...] = ()
    reason: str = ""


def look(nvml: Nvml | None = None) -> Box:
    """What there is now.

    Args:
        nvml: Something that behaves as ``pynvml``; that itself when left out.
    """
    if nvml is None:
        try:
            import pynvml
        except ModuleNotFoundError:
            return Box(reason="the package nvidia-ml-py is not installed")
        nvml = pynvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return Box(reason=f"no NVIDIA driver answers ({_words(error)})")
    try:
        return _box(nvml)
    except nvml.NVMLError as error:
        return Box(reason=f"the NVIDIA driver fails ({_words(error)})")
    finally:
        nvml.nvmlShutdown()


def _box(nvml: Nvml) -> Box:
    version = nvml.nvmlSystemGetCudaDriverVersion()
    handles = dict(_handles(nvml))
    gpus = tuple(gpu for n, handle in handles.items() for gpu in _gpus(nvml, n, handle))
    return Box(
        gpus=gpus,
        driver=nvml.nvmlSystemGetDriverVersion(),
        cuda=(version // 1000, version % 1000 // 10),
        apart=tuple(_apart(nvml, handles)),
        reason="" if gpus else "the NVIDIA driver knows no GPU",
    )


def _handles(nvml: Nvml) -> Iterator[tuple[int, Any]]:
    for number in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(number)
            nvml.nvmlDeviceGetName(handle)
        except nvml.NVMLError:
            # A GPU that broke stays in the count, and its number is nobody else's.
            continue
        yield number, handle


def _gpus(nvml: Nvml, number: int, handle: Any) -> Iterator[Gpu]:
    """The GPU, or its instances where it is cut."""
    instances = list(_instances(nvml, handle))
    for instance in instances:
        yield _gpu(nvml, nvml.nvmlDeviceGetUUID(instance), instance, handle)
    if not instances:
        yield _gpu(nvml, str(number), handle, handle)


def _gpu(nvml: Nvml, device: str, handle: Any, whole: Any) -> Gpu:
    memory = used = 0
    capability = None
    try:
        info = nvml.nvmlDeviceGetMemoryInfo(handle)
        memory, used = int(info.total), int(info.used)
    except nvml.NVMLError:
        # GPUs that share the memory of the machine have none of their own to tell of.
        pass
    try:
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(whole)
        capability = (int(major), int(minor))
    except nvml.NVMLError:
        pass
    name = nvml.nvmlDeviceGetName(handle)
    return Gpu(device, name, nvml.nvmlDeviceGetUUID(handle), memory, used, capability)


def _instances(nvml: Nvml, handle: Any) -> Iterator[Any]:
    try:
        current, _pending = nvml.nvmlDeviceGetMigMode(handle)
        most = nvml.nvmlDeviceGetMaxMigDeviceCount(handle) if current else 0
    except nvml.NVMLError:
        return
    for index in range(most):
        try:
            yield nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except nvml.NVMLError:
            # Places for instances that were not made.
            continue


def _apart(nvml: Nvml, handles: dict[int, Any]) -> Iterator[tuple[str, str]]:
    for (one, first), (other, second) in combinations(handles.items(), 2):
        try:
            status = nvml.nvmlDeviceGetP2PStatus(first, second, _CAN_READ)
        except nvml.NVMLError:
            continue
        if status != _OK:
            yield str(one), str(other)


def _words(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
