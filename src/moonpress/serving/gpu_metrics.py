"""What the GPUs of this machine do, for Prometheus.

Owns asking the driver through NVML. Where there is no driver, or no package for it, there are names
without values; nothing is said about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

_LABELS = ("gpu", "name")


@dataclass(frozen=True, slots=True)
class _Kind:
    """One measure.

    Attributes:
        name: Of the metric.
        words: What it is.
        ask: Asks NVML about a GPU.
    """

    name: str
    words: str
    ask: Callable[[Any, Any], float]


_KINDS = (
    _Kind(
        "moonpress_gpu_memory_used_bytes",
        "Memory of the GPU that is taken",
        lambda nvml, gpu: float(nvml.nvmlDeviceGetMemoryInfo(gpu).used),
    ),
    _Kind(
        "moonpress_gpu_memory_total_bytes",
        "Memory of the GPU",
        lambda nvml, gpu: float(nvml.nvmlDeviceGetMemoryInfo(gpu).total),
    ),
    _Kind(
        "moonpress_gpu_utilisation_ratio",
        "Share of the time in which the GPU did something",
        lambda nvml, gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
    ),
    _Kind(
        "moonpress_gpu_temperature_celsius",
        "Temperature of the GPU",
        lambda nvml, gpu: float(nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU)),
    ),
)


class GpuCollector(Collector):
    """Asks when Prometheus asks.

    Args:
        nvml: The module ``pynvml``; looked for when left out.
    """

    def __init__(self, nvml: Any = None) -> None:
        self._nvml = nvml if nvml is not None else _nvml()
        self._open = False

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All measures of all GPUs; what a GPU does not tell is left out."""
        gpus = self._gpus()
        for kind in _KINDS:
            family = GaugeMetricFamily(kind.name, kind.words, labels=_LABELS)
            for labels, gpu in gpus:
                try:
                    family.add_metric(labels, kind.ask(self._nvml, gpu))
                except self._nvml.NVMLError:
                    continue
            yield family

    def _gpus(self) -> list[tuple[tuple[str, str], Any]]:
        if self._nvml is None:
            return []
        try:
            if not self._open:
                self._nvml.nvmlInit()
                self._open = True
            count = self._nvml.nvmlDeviceGetCount()
            found = [self._nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
            return [
                ((str(index), str(self._nvml.nvmlDeviceGetName(gpu))), gpu)
                for index, gpu in enumerate(found)
            ]
        except self._nvml.NVMLError:
            return []


def _nvml() -> Any:
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml
