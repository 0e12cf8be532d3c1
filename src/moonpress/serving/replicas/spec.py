"""What is to run: the vLLM processes of one service, as data.

Owns the description that the plan makes and the supervisor carries out. Never starts anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What part of reading a page a replica does."""

    WHOLE = "whole"
    ENCODER = "encoder"
    DECODER = "decoder"


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """One vLLM server.

    Attributes:
        name: Stable and short, such as ``gpu0`` or ``gpu0-1``; in logs, metrics and ``/health``.
        devices: What its ``CUDA_VISIBLE_DEVICES`` names; empty where there is no GPU.
        arguments: Of ``vllm serve``, without the model, the host and the port.
        environment: Variables beside those of the service.
        role: Whole pages, or a half of the work.
        least_devices: The fewest of its GPUs that hold the model.
    """

    name: str
    devices: tuple[str, ...]
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    role: Role = Role.WHOLE
    least_devices: int = 1


@dataclass(frozen=True, slots=True)
class Fleet:
    """All vLLM servers of a service.

    Attributes:
        command: The vllm program, as the first words of a command line.
        model: Name or folder of the weights.
        replicas: In the order in which they start; at least one.
        line: What runs where, for people: ``2 GPUs, tensor parallel 2, 1 replica``.
    """

    command: tuple[str, ...]
    model: str
    replicas: tuple[ReplicaSpec, ...]
    line: str
