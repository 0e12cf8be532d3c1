"""A driver that knows the GPUs it is told, behaving as ``pynvml``.

Owns what real drivers do at the places that matter here: GPUs that are lost, memory that is not
told, GPUs that are cut into instances. Never imports the real one.
"""

# ruff: noqa: N802, ARG002 - names and arguments are those of the real one

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GB = 10**9


class FakeError(Exception):
    """As ``pynvml.NVMLError``."""


@dataclass(slots=True)
class Card:
    """One GPU."""

    name: str
    memory: int = 0
    used: int = 0
    lost: bool = False
    capability: tuple[int, int] | None = (9, 0)
    instances: tuple[str, ...] = ()


@dataclass(slots=True)
class Memory:
    total: int
    used: int


@dataclass(slots=True)
class FakeNvml:
    """The driver."""

    cards: list[Card]
    absent: bool = False
    apart: set[tuple[int, int]] = field(default_factory=set)
    open: int = 0
    NVMLError: type[Exception] = FakeError

    def nvmlInit(self) -> None:
        if self.absent:
            raise FakeError("NVML Shared Library Not Found")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.95.05"

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return 13000

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        if self.cards[index].lost:
            raise FakeError("GPU is lost")
        return (index, None)

    def nvmlDeviceGetName(self, handle: Any) -> str:
        return self._card(handle).name

    def nvmlDeviceGetUUID(self, handle: Any) -> str:
        index, instance = handle
        return (
            f"GPU-{index:04x}-aaaa" if instance is None else self.cards[index].instances[instance]
        )

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Memory:
        card = self._card(handle)
        if not card.memory:
            raise FakeError("Not Supported")
        return Memory(card.memory, card.used)

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any:
        card = self._card(handle)
        if card.capability is None:
            raise FakeError("Not Supported")
        return list(card.capability)

    def nvmlDeviceGetMigMode(self, handle: Any) -> Any:
        card = self._card(handle)
        if not card.instances and "RTX" in card.name:
            raise FakeError("Not Supported")
        return [int(bool(card.instances)), 0]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Any) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any:
        if index >= len(self._card(handle).instances):
            raise FakeError("Not Found")
        return (handle[0], index)

    def nvmlDeviceGetP2PStatus(self, one: Any, other: Any, kind: int) -> int:
        return 3 if (one[0], other[0]) in self.apart else 0

    def _card(self, handle: Any) -> Card:
        index: int = handle[0]
        return self.cards[index]


def h200s(count: int, *, used: int = 0) -> list[Card]:
    """Cards as in the machine of docs/performance.md."""
    return [Card("NVIDIA H200", 150_754_820_096, used) for _ in range(count)]
