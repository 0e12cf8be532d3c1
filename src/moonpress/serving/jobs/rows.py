"""Rows of the file of jobs, as jobs.

Owns reading one row. Never asks the database.
"""

from __future__ import annotations

import sqlite3

import orjson

from moonpress.serving.jobs.job import Job, JobState, WebhookState
from moonpress.serving.requests import JobRequest


def job_of(row: sqlite3.Row) -> Job:
    """A row of the view ``shown``."""
    return Job(
        number=row["number"],
        id=row["id"],
        owner=row["owner"],
        state=JobState(row["state"]),
        request=JobRequest.model_validate_json(row["request"]),
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        selected=row["selected"],
        read=row["read"],
        failed=row["failed"],
        problems=orjson.loads(row["problems"]),
        engine=row["engine"],
        code=row["code"],
        message=row["message"],
        hint=row["hint"],
        webhook=WebhookState(row["webhook"]),
        webhook_tries=row["webhook_tries"],
        webhook_at=row["webhook_at"],
    )
