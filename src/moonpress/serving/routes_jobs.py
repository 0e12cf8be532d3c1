"""``/v1/jobs``: whole documents that are read in their own time.

Owns the routes. Never reads documents and never keeps them: see `moonpress.serving.jobs`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Final

import anyio
import anyio.to_thread
import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import FileResponse
from sse_starlette import EventSourceResponse

from moonpress.document import Document, Metadata
from moonpress.errors import EngineUnavailable, JobMissing, JobUnfinished
from moonpress.serving.answers import OutputFormat, page_answer
from moonpress.serving.jobs.bodies import JobBody, JobList, PageList, job_body
from moonpress.serving.jobs.job import Job, JobState
from moonpress.serving.jobs.runner import JobRunner
from moonpress.serving.refusals import MADE, MISSING, REFUSED, SENT, UNFINISHED
from moonpress.serving.requests import JobRequest
from moonpress.serving.service import Service
from moonpress.serving.uploads import form_schema, received

router = APIRouter()
_AT_ONCE: Final = 100
_PING_SECONDS: Final = 15
_LOOK_SECONDS: Final = 1.0


@router.post(
    "/v1/jobs",
    status_code=202,
    response_model=JobBody,
    responses=SENT,
    summary="Have a document read in its own time",
    openapi_extra=form_schema(JobRequest),
)
async def create(request: Request, response: Response) -> JobBody:
    """Keep a document and read it when it is its turn; the answer comes at once.

    Bodies are those of ``POST /v1/ocr``, and ``webhook``: an address that gets a POST at the end.
    """
    runner, owner = _asked(request)
    service: Service = request.app.state.service
    async with received(request, JobRequest, service.fetcher) as (wanted, file):
        if wanted.webhook is not None:
            runner.webhooks.rules.check(wanted.webhook)
        job = await anyio.to_thread.run_sync(runner.store.add, wanted, file, owner)
    runner.added()
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return job_body(job)


@router.get("/v1/jobs", response_model=JobList, responses=REFUSED, summary="Your jobs")
async def listed(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=1000)] = _AT_ONCE,
    before: Annotated[int | None, Query(ge=0, le=1 << 62)] = None,
) -> JobList:
    """The jobs of the key, the newest first."""
    runner, owner = _asked(request)
    jobs = await anyio.to_thread.run_sync(
        lambda: runner.store.jobs(owner, before=before, most=limit)
    )
    following = jobs[-1].number if len(jobs) == limit else None
    return JobList(data=[job_body(job) for job in jobs], next=following)


@router.get("/v1/jobs/{job_id}", response_model=JobBody, responses=MISSING, summary="A job")
async def shown(request: Request, job_id: str) -> JobBody:
    """How far a job is."""
    return job_body(await _job(request, job_id))


@router.delete(
    "/v1/jobs/{job_id}",
    response_model=JobBody,
    responses=UNFINISHED,
    summary="Cancel or forget a job",
)
async def deleted(request: Request, job_id: str) -> JobBody:
    """Cancel a job that has not ended; forget one that has, with all that was read."""
    runner, owner = _asked(request)
    job = await _job(request, job_id)
    if job.state.ended:
        await anyio.to_thread.run_sync(runner.store.remove, job)
        return job_body(job)
    await runner.cancel(job)
    return job_body(await anyio.to_thread.run_sync(runner.store.job, job_id, owner))


@router.get(
    "/v1/jobs/{job_id}/pages",
    response_model=PageList,
    responses=MISSING,
    summary="Pages of a job, as they come",
)
async def pages(
    request: Request,
    job_id: str,
    after: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = _AT_ONCE,
    output_format: OutputFormat | None = None,
) -> PageList:
    """Pages that are out, in the order in which they came; document-level passes come at the end.

    Each has a ``serial``; ``after`` leaves out those up to one.
    """
    runner, _ = _asked(request)
    job = await _job(request, job_id)
    form = output_format or job.request.output_format
    alone = Document(job.request.name, "", (), Metadata(page_count=0, media_type=""))

    def rows() -> list[dict[str, Any]]:
        found = runner.store.pages(job, after=after, most=limit)
        return [{"serial": serial, **page_answer(alone, page, form)} for serial, page in found]

    data = await anyio.to_thread.run_sync(rows)
    return PageList(data=data, next=data[-1]["serial"] if data else after)


@router.get(
    "/v1/jobs/{job_id}/result",
    response_model=None,
    responses=MADE,
    summary="The document of a job that is done",
)
async def result(
    request: Request, job_id: str, output_format: OutputFormat | None = None
) -> FileResponse:
    """The whole document, as ``POST /v1/ocr`` answers it."""
    runner, _ = _asked(request)
    job = await _job(request, job_id)
    if job.state is not JobState.DONE:
        hint = "Ask for its pages" if job.state.ended else None
        raise JobUnfinished(f"the job is {job.state.value}: there is no result", hint=hint)
    form = output_format or job.request.output_format
    return FileResponse(await runner.results.result(job, form), media_type="application/json")


@router.get(
    "/v1/jobs/{job_id}/events",
    response_model=None,
    responses={**MISSING, 200: {"content": {"text/event-stream": {}}}},
    summary="Follow a job",
)
async def events(
    request: Request, job_id: str, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """An event ``job`` with how far it is, ``page`` for each page as it comes, ``job`` at the end.

    The ids of ``page`` events are serials: ``Last-Event-ID`` leaves out those up to one.
    """
    runner, owner = _asked(request)
    job = await _job(request, job_id)
    known = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
    after = int(last_event_id or 0) if known and len(last_event_id or "") < 18 else 0
    return EventSourceResponse(_follow(runner, owner, job, after), ping=_PING_SECONDS)


async def _follow(
    runner: JobRunner, owner: str, job: Job, after: int
) -> AsyncIterator[dict[str, str]]:
    yield _event("job", job_body(job).model_dump_json())
    while True:
        changed = runner.changes.of(job.id)
        try:
            now = await anyio.to_thread.run_sync(runner.store.job, job.id, owner)
        except JobMissing:
            # Forgotten by its client between its end and this look.
            return
        marks = await anyio.to_thread.run_sync(
            partial(runner.store.marks, job, after=after, most=_AT_ONCE)
        )
        for mark in marks:
            after = mark.serial
            body = {"number": mark.number, "status": mark.status, "selected": now.selected}
            yield {**_event("page", orjson.dumps(body).decode()), "id": str(mark.serial)}
        if len(marks) == _AT_ONCE:
            continue
        if now.state.ended:
            yield _event("job", job_body(now).model_dump_json())
            return
        if runner.stopping:
            # The client asks again, with the id of the last event, once the service is back.
            return
        # Also where nobody tells: a job that another request removes.
        with anyio.move_on_after(_LOOK_SECONDS):
            await changed.wait()


def _event(name: str, data: str) -> dict[str, str]:
    return {"event": name, "data": data}


async def _job(request: Request, job_id: str) -> Job:
    runner, owner = _asked(request)
    return await anyio.to_thread.run_sync(runner.store.job, job_id, owner)


def _asked(request: Request) -> tuple[JobRunner, str]:
    """Who reads jobs, and whose they are to be.

    Raises:
        EngineUnavailable: this service has no jobs.
    """
    runner: JobRunner | None = request.app.state.jobs
    if runner is None:
        raise EngineUnavailable("this service has no jobs", hint="Use POST /v1/ocr")
    return runner, getattr(request.state, "owner", "")
