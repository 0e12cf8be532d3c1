"""Tests of `moonpress.serving.gpu_metrics` with a driver that follows a script."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from moonpress.serving.gpu_metrics import GpuCollector


class _Error(Exception):
    pass


class _Driver:
    """Two GPUs, of which the second does not tell its temperature."""

    NVMLError = _Error
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, *, there: bool = True) -> None:
        self._there = there

    def nvmlInit(self) -> None:  # noqa: N802
        if not self._there:
            raise _Error

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetName(self, gpu: int) -> str:  # noqa: N802
        return f"GPU of kind {gpu}"

    def nvmlDeviceGetMemoryInfo(self, gpu: int) -> Any:  # noqa: N802
        return SimpleNamespace(used=1024 * (gpu + 1), total=4096)

    def nvmlDeviceGetUtilizationRates(self, gpu: int) -> Any:  # noqa: N802
        del gpu
        return SimpleNamespace(gpu=75)

    def nvmlDeviceGetTemperature(self, gpu: int, kind: int) -> int:  # noqa: N802
        del kind
        if gpu == 1:
            raise _Error
        return 61


def _told(collector: GpuCollector) -> str:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def test_what_each_gpu_does_is_told() -> None:
    text = _told(GpuCollector(_Driver()))
    first, second = '{gpu="0",name="GPU of kind 0"}', '{gpu="1",name="GPU of kind 1"}'
    assert f"moonpress_gpu_memory_used_bytes{first} 1024.0" in text
    assert f"moonpress_gpu_memory_used_bytes{second} 2048.0" in text
    assert f"moonpress_gpu_memory_total_bytes{second} 4096.0" in text
    assert f"moonpress_gpu_utilisation_ratio{first} 0.75" in text
    assert f"moonpress_gpu_temperature_celsius{first} 61.0" in text
    assert f"moonpress_gpu_temperature_celsius{second}" not in text


def test_without_a_driver_there_are_names_without_values() -> None:
    text = _told(GpuCollector(_Driver(there=False)))
    assert "# TYPE moonpress_gpu_memory_used_bytes gauge" in text
    assert "GPU of kind" not in text
