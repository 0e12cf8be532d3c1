"""What a replica looks like from outside.

Owns the words for its states. Never changes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from moonpress.engines.pool import ReplicaState
from moonpress.serving.replicas.spec import Role


class State(StrEnum):
    """Where a replica is in its life.

    ``suspect`` still reads and gets pages only where there is no other. ``out`` is for servers that
    somebody else runs and that do not answer.
    """

    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    SUSPECT = "suspect"
    OUT = "out"
    DRAINING = "draining"
    RESTARTING = "restarting"
    FAILED = "failed"


SERVING = frozenset({State.READY, State.SUSPECT})


@dataclass(frozen=True, slots=True)
class ReplicaReport:
    """A replica, as ``/health`` and ``/metrics`` show it.

    Attributes:
        name: Of the replica; its address where somebody else runs it.
        state: Where it is in its life.
        role: What part of reading it does.
        devices: Its GPUs.
        in_flight: Pages.
        bytes_in_flight: Of their pictures.
        restarts: Since the service started.
        bytes_held: Memory of its processes, where that is known.
        pid: Of the root of its processes.
        reason: Why it is not ready; empty otherwise.
        hint: What to do about it; may be empty.
    """

    name: str
    state: State
    role: Role = Role.WHOLE
    devices: tuple[str, ...] = ()
    in_flight: int = 0
    bytes_in_flight: int = 0
    restarts: int = 0
    bytes_held: int | None = None
    pid: int | None = None
    reason: str = ""
    hint: str = ""


def report_of(state: ReplicaState) -> ReplicaReport:
    """Of a server that somebody else runs."""
    return ReplicaReport(
        name=state.name,
        state=State(state.standing.value),
        in_flight=state.in_flight,
        bytes_in_flight=state.bytes_in_flight,
        reason=state.reason,
    )
