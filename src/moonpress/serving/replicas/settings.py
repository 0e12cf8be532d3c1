"""How the service treats its replicas.

Owns the bounds. Never acts on them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """Bounds of starting, watching and ending replicas, in seconds where nothing else is said.

    Attributes:
        tick: Between two looks at a replica.
        suspect: Without an answer about its health, and without a byte of any reply, before other
            replicas are preferred.
        hang: The same, before it is taken as hung.
        stall: With pages at work and neither prompts nor replies growing, before it is taken as
            hung though it answers.
        start: For coming up, weights fetched meanwhile.
        drain: For the pages of a replica that is restarted in peace; others read them then.
        grace: Between SIGTERM and SIGKILL.
        first_pause: Before the first restart; doubles.
        longest_pause: The most that it becomes.
        steady: Of service after which a failure counts as the first again.
        vain_starts: In a row of a replica that never came up, after which it is given up.
        other_ready: How long a restart in peace waits for another replica to be there meanwhile.
        memory_limit: Bytes that a replica's processes may hold together; ``None`` for any.
        start_memory: Bytes of this machine's memory that a start may take; bounds how many start at
            once.
    """

    tick: float = 0.25
    suspect: float = 1.5
    hang: float = 15.0
    stall: float = 60.0
    start: float = 1800.0
    drain: float = 120.0
    grace: float = 10.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    steady: float = 300.0
    vain_starts: int = 4
    other_ready: float = 300.0
    memory_limit: int | None = None
    start_memory: int = 6 << 30
