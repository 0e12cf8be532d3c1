"""What a server and the GPUs of this machine say of themselves while a load runs.

Owns asking them once a second. Never sends pages.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import anyio
import anyio.to_thread

_SECONDS = 1.0
_LINE = re.compile(r"^([a-zA-Z_:]+)(?:\{[^}]*\})? ([0-9.eE+-]+)$", re.MULTILINE)
_GAUGES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:kv_cache_usage_perc": "kv_cache_usage",
    "moonpress_queue": "queue",
}


@dataclass(slots=True)
class Watched:
    """Readings of a load.

    Attributes:
        server: Gauges of the server by name, summed over its engines; one list an entry a second.
        busy: Utilisation of each GPU, 0 to 1.
        memory: Bytes in use on each GPU.
    """

    server: dict[str, list[float]] = field(default_factory=dict)
    busy: list[list[float]] = field(default_factory=list)
    memory: list[list[int]] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Means and extremes, the first and last tenth left out."""
        means = {name: round(_middle(values), 3) for name, values in self.server.items()}
        gpus = [
            {
                "busy": round(_middle([row[i] for row in self.busy]), 3),
                "memory_gb_max": round(max(row[i] for row in self.memory) / 1e9, 2),
                "memory_gb_min": round(min(row[i] for row in self.memory) / 1e9, 2),
            }
            for i in range(len(self.busy[0]) if self.busy else 0)
        ]
        return {"server": means, "gpus": gpus}


async def watch(root: str, watched: Watched) -> None:
    """Ask a server's ``/metrics`` and this machine's GPUs, until cancelled.

    Args:
        root: The server's address without ``/v1``.
        watched: Gets the readings.
    """
    gpus = await anyio.to_thread.run_sync(_Gpus)
    timeout = aiohttp.ClientTimeout(total=5.0)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while True:
            began = time.monotonic()
            await _ask(session, f"{root}/metrics", watched)
            if gpus.count:
                busy, memory = await anyio.to_thread.run_sync(gpus.read)
                watched.busy.append(busy)
                watched.memory.append(memory)
            await anyio.sleep(max(_SECONDS - (time.monotonic() - began), 0.0))


async def _ask(session: aiohttp.ClientSession, url: str, watched: Watched) -> None:
    try:
        async with session.get(url) as answer:
            text = await answer.text() if answer.status == 200 else ""
    except (aiohttp.ClientError, OSError, TimeoutError):
        return
    sums: dict[str, float] = {}
    for name, value in _LINE.findall(text):
        if name in _GAUGES:
            sums[_GAUGES[name]] = sums.get(_GAUGES[name], 0.0) + float(value)
    for name, total in sums.items():
        watched.server.setdefault(name, []).append(total)


class _Gpus:
    """The GPUs of this machine, where NVIDIA's library is installed; none elsewhere."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        try:
            import pynvml

            self._library: Any = pynvml
            pynvml.nvmlInit()
            count = pynvml.nvmlDeviceGetCount()
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(count)]
        except (ImportError, OSError, RuntimeError):
            return
        except Exception as error:
            # The library's own errors share no base with anything.
            if type(error).__module__ != "pynvml":
                raise

    @property
    def count(self) -> int:
        return len(self._handles)

    def read(self) -> tuple[list[float], list[int]]:
        nv = self._library
        busy = [nv.nvmlDeviceGetUtilizationRates(one).gpu / 100 for one in self._handles]
        memory = [int(nv.nvmlDeviceGetMemoryInfo(one).used) for one in self._handles]
        return busy, memory


def _middle(values: list[float]) -> float:
    """Mean without the first and the last tenth, where a load ramps up and ends."""
    cut = len(values) // 10
    kept = values[cut : len(values) - cut] or values
    return sum(kept) / len(kept) if kept else 0.0
