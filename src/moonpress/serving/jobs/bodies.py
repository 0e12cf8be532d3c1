"""What clients are told of jobs.

Owns the models of answers. Never reads jobs.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from moonpress.serving.jobs.job import Job, JobState, WebhookState


class JobPages(BaseModel):
    """How far a job is."""

    selected: int | None = Field(description="Pages to read; null until the file was opened")
    read: int = Field(description="Pages that are out, read or failed")
    failed: int = Field(description="Of these, failed")


class JobProblem(BaseModel):
    """What is wrong with some pages; each page says more."""

    code: str
    pages: int


class JobError(BaseModel):
    """Why a job has failed."""

    code: str
    message: str
    hint: str | None


class JobWebhook(BaseModel):
    """What became of telling the client."""

    state: WebhookState
    tries: int


class JobBody(BaseModel):
    """A job."""

    object: Literal["job"] = "job"
    id: str
    state: JobState
    name: str
    output_format: str
    created: float = Field(description="Seconds since 1970; so are the others")
    started: float | None
    ended: float | None
    pages: JobPages
    problems: list[JobProblem]
    error: JobError | None
    webhook: JobWebhook | None


class JobList(BaseModel):
    """Jobs, the newest first."""

    object: Literal["list"] = "list"
    data: list[JobBody]
    next: int | None = Field(description="The value of before for what follows; null at the end")


class PageList(BaseModel):
    """Pages of a job in the order in which they came out."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    next: int = Field(description="The value of after for what comes later")


def job_body(job: Job) -> JobBody:
    """A job as clients see it."""
    error = None
    if job.code is not None:
        error = JobError(code=job.code, message=job.message or "", hint=job.hint or None)
    webhook = None
    if job.webhook is not WebhookState.NONE:
        webhook = JobWebhook(state=job.webhook, tries=job.webhook_tries)
    return JobBody(
        id=job.id,
        state=job.state,
        name=job.request.name,
        output_format=job.request.output_format,
        created=job.created,
        started=job.started,
        ended=job.ended,
        pages=JobPages(selected=job.selected, read=job.read, failed=job.failed),
        problems=[JobProblem(code=code, pages=pages) for code, pages in job.problems.items()],
        error=error,
        webhook=webhook,
    )
