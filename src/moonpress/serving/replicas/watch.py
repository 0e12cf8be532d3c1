"""Whether a replica is well, from the signs that it gives.

Owns the judgement. Never asks (see `moonpress.serving.replicas.questions`) and never acts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from moonpress.serving.replicas.settings import SupervisorSettings

# One bad answer may be chance; the next question follows at once.
_BAD_ANSWERS = 2


class Verdict(StrEnum):
    """What to think of a replica."""

    WELL = "well"
    SUSPECT = "suspect"
    DEAD = "dead"
    HUNG = "hung"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Progress:
    """What vLLM counts.

    Attributes:
        running: Requests at work.
        tokens: Of prompts and replies since it started.
    """

    running: int
    tokens: int


@dataclass(slots=True)
class Signs:
    """What is known of a replica; times are those of one clock that never goes back.

    Attributes:
        asked_at: When it was asked for its health, if it has not answered yet.
        bad_answers: In a row: refusals, broken connections, statuses of failure.
        bad_answer: The last of them.
        heard_at: When the last byte of any reply came.
        moved_at: When its counters last moved, or it had nothing to do.
        progress: Its counters.
        failing: Why the pool left it out for failing on page after page; empty otherwise.
        bytes_held: By its processes.
    """

    asked_at: float | None = None
    bad_answers: int = 0
    bad_answer: str = ""
    heard_at: float = float("-inf")
    moved_at: float = float("inf")
    progress: Progress | None = None
    failing: str = ""
    bytes_held: int | None = None

    def answered(self, bad: str | None) -> None:
        """It answered, with what is wrong."""
        self.asked_at = None
        self.bad_answers = 0 if bad is None else self.bad_answers + 1
        self.bad_answer = bad or ""

    def counted(self, progress: Progress | None, now: float) -> None:
        """Its counters were read; without any nothing can be said."""
        if progress is None or progress != self.progress or not progress.running:
            self.moved_at = now
        self.progress = progress


def judge(signs: Signs, settings: SupervisorSettings, now: float) -> tuple[Verdict, str]:
    """What to think of a replica, and why."""
    return next(_findings(signs, settings, now), (Verdict.WELL, ""))


def _findings(
    signs: Signs, settings: SupervisorSettings, now: float
) -> Iterator[tuple[Verdict, str]]:
    """What speaks against it, the worst first."""
    silent = 0.0
    if signs.asked_at is not None:
        silent = now - max(signs.asked_at, signs.heard_at)
    said = f"its health check says: {signs.bad_answer}"
    if signs.bad_answers >= _BAD_ANSWERS:
        yield Verdict.DEAD, said
    if silent > settings.hang:
        yield Verdict.HUNG, f"it has given no sign of life for {silent:.0f} s"
    if now - signs.moved_at > settings.stall:
        yield Verdict.HUNG, f"its pages have not moved for {now - signs.moved_at:.0f} s"
    if signs.failing:
        yield Verdict.FAILING, signs.failing
    if signs.bad_answers:
        yield Verdict.SUSPECT, said
    if silent > settings.suspect:
        yield Verdict.SUSPECT, f"it has given no sign of life for {silent:.1f} s"


def too_heavy(signs: Signs, settings: SupervisorSettings) -> str:
    """Why a replica should be restarted in peace for its memory; empty when it should not."""
    held, most = signs.bytes_held, settings.memory_limit
    if most is None or held is None or held <= most:
        return ""
    return f"it holds {held >> 20} MiB of memory and may hold {most >> 20}"
