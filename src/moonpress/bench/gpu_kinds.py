"""GPUs as the planner knows them: what their makers say that they can do.

Owns the table. Never says how much of it a server reaches: see `moonpress.bench.roofline`.

Figures are of NVIDIA's data sheets and architecture papers: tensor throughput in bfloat16 without
sparsity and with sums in 32 bits, bandwidth and size of the memory. Consumer cards halve their
throughput for 32-bit sums; the halved figure stands here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpress.errors import UnknownName


@dataclass(frozen=True, slots=True)
class GpuKind:
    """One kind of GPU.

    Attributes:
        name: As ``--gpu`` calls it.
        full_name: As its maker calls it.
        tflops: 10^12 operations a second in bfloat16.
        bandwidth: 10^12 bytes a second of its memory.
        memory_gb: 10^9 bytes of memory.
    """

    name: str
    full_name: str
    tflops: float
    bandwidth: float
    memory_gb: float


KINDS: Final = (
    GpuKind("l4", "NVIDIA L4", 121, 0.300, 24),
    GpuKind("a10", "NVIDIA A10", 125, 0.600, 24),
    GpuKind("3090", "GeForce RTX 3090", 71, 0.936, 24),
    GpuKind("4090", "GeForce RTX 4090", 165, 1.008, 24),
    GpuKind("l40s", "NVIDIA L40S", 362, 0.864, 48),
    GpuKind("a100", "NVIDIA A100 80 GB SXM", 312, 2.039, 80),
    GpuKind("h100", "NVIDIA H100 SXM", 989, 3.35, 80),
    GpuKind("h200", "NVIDIA H200 SXM", 989, 4.8, 141),
    GpuKind("b200", "NVIDIA B200", 2250, 8.0, 180),
)


def find_kind(name: str) -> GpuKind:
    """A GPU by the name that people use for it.

    Raises:
        UnknownName: there is none.

    >>> find_kind("RTX 4090").name
    '4090'
    """
    wanted = "".join(name.lower().replace("nvidia", "").replace("geforce", "").split())
    wanted = wanted.removeprefix("rtx").replace("-", "")
    for kind in KINDS:
        if kind.name == wanted:
            return kind
    names = ", ".join(kind.name for kind in KINDS)
    raise UnknownName(f"no GPU is called {name!r} here", hint=f"Choose among {names}")
