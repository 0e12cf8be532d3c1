"""What a job is.

Owns the data. Never stores or reads it: see `moonpress.serving.jobs.store`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from moonpress.serving.requests import JobRequest


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self not in {JobState.QUEUED, JobState.RUNNING}


class WebhookState(StrEnum):
    """What became of telling the client."""

    NONE = "none"
    WAITING = "waiting"
    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A document that a client wants read.

    Attributes:
        number: In the order of their coming.
        id: As the client calls it.
        owner: Name of the key that brought it; empty where the service has none.
        state: Where it is.
        request: What is wanted, without the file.
        created: When it came, in seconds since 1970; so are the others.
        started: When it was first taken up.
        ended: When it ended.
        selected: Pages to read; ``None`` until the file was opened.
        read: Pages that are out, read or failed.
        failed: Of them, failed.
        problems: Pages by code of what is wrong with them.
        engine: Who reads it.
        code: Code of the error that ended it.
        message: What that was.
        hint: What to do about it.
        webhook: What became of it.
        webhook_tries: How often it was tried.
        webhook_at: When it is tried next.
    """

    number: int
    id: str
    owner: str
    state: JobState
    request: JobRequest
    created: float
    started: float | None
    ended: float | None
    selected: int | None
    read: int
    failed: int
    problems: dict[str, int]
    engine: str
    code: str | None
    message: str | None
    hint: str | None
    webhook: WebhookState
    webhook_tries: int
    webhook_at: float


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page that is out.

    Attributes:
        serial: In the order in which the pages of the job came out, from 1.
        number: In the file, from 1.
        status: How it ended.
    """

    serial: int
    number: int
    status: str
