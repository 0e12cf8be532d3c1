"""The jobs of a service, on the disk.

Owns what jobs go through: each change is kept, whatever happens after it. Calls block for some
milliseconds and may come from several threads. Never reads documents and never tells clients.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

import orjson

from moonpress import database as files
from moonpress.document import Page
from moonpress.errors import EngineBusy, JobMissing, MoonpressError
from moonpress.outputs.disk import sync
from moonpress.pipeline.spool import decode_page, encode_page
from moonpress.serving.answers import OutputFormat
from moonpress.serving.jobs.job import Job, JobState, PageMark, WebhookState
from moonpress.serving.jobs.job_file import WORDS, open_for_writing
from moonpress.serving.jobs.rows import job_of
from moonpress.serving.requests import JobRequest
from moonpress.sources.base import SourceInfo

_NAME: Final = "jobs.sqlite"
_UPLOAD: Final = "upload"
_FIGURES: Final = "figures"
_RETRY_SECONDS: Final = 60.0
_PIECE: Final = 1 << 20
_NAME_BYTES: Final = 16
_IS_NAME: Final = re.compile(r"[0-9a-f]{32}")
_ENDED: Final = ("done", "failed", "cancelled")


class JobStore:
    """The jobs in one folder, which no other process may write to.

    Args:
        folder: Made where it is missing, for nobody else to look into.
        most: Jobs that may wait.

    Attributes:
        folder: Each job has one of its own in it.
        path: The database.

    Raises:
        UsageError: another service has the folder, or its file is none of ours.
        OutputError: it cannot be written.
    """

    def __init__(self, folder: Path, *, most: int) -> None:
        self.folder = folder
        self._most = most
        self.path = folder / _NAME
        self._guard = threading.Lock()
        self._database, self._claim = open_for_writing(self.path)
        with self._writing() as database:
            # A service that was killed could not say that they wait again.
            database.execute("UPDATE jobs SET state = 'queued' WHERE state = 'running'")

    def add(self, request: JobRequest, file: BinaryIO, owner: str) -> Job:
        """Keep a document and what is wanted of it.

        Raises:
            EngineBusy: too many wait.
            NoSpace: the disk is full.
        """
        with self._reading() as database:
            self._refuse_when_full(database)
        name = token_hex(_NAME_BYTES)
        place = self.folder / name
        kept = request.model_copy(update={"file": None, "image_url": None})
        webhook = WebhookState.WAITING if request.webhook else WebhookState.NONE
        try:
            with files.disk_errors(place, WORDS):
                self._store_upload(place, file)
            with self._writing() as database:
                # Others may have come while the file was written.
                self._refuse_when_full(database)
                database.execute(
                    "INSERT INTO jobs (id, owner, state, request, created, webhook)"
                    " VALUES (?, ?, 'queued', ?, ?, ?)",
                    (name, owner, kept.model_dump_json(), time.time(), webhook.value),
                )
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return self.job(name, owner)

    def _store_upload(self, place: Path, file: BinaryIO) -> None:
        place.mkdir(mode=0o700)
        with (place / _UPLOAD).open("wb") as target:
            shutil.copyfileobj(file, target, _PIECE)
        for path in (place / _UPLOAD, place, self.folder):
            sync(path)

    def _refuse_when_full(self, database: sqlite3.Connection) -> None:
        (waiting,) = database.execute("SELECT count(*) FROM jobs WHERE state = 'queued'").fetchone()
        if waiting >= self._most:
            raise EngineBusy(
                f"{waiting} jobs wait already", retry_after=_RETRY_SECONDS, hint="Try again later"
            )

    def job(self, name: str, owner: str) -> Job:
        """A job of this owner.

        Raises:
            JobMissing: there is none, or another owner has it.
        """
        with self._reading() as database:
            row = database.execute(
                "SELECT * FROM shown WHERE id = ? AND owner = ?", (name, owner)
            ).fetchone()
        if row is None:
            raise JobMissing("there is no such job", hint="It may have expired")
        return job_of(row)

    def jobs(self, owner: str, *, before: int | None, most: int) -> list[Job]:
        """Jobs of an owner, the newest first, beginning behind the one of number ``before``."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT * FROM shown WHERE owner = ? AND number < ? ORDER BY number DESC LIMIT ?",
                (owner, before if before is not None else 1 << 62, most),
            ).fetchall()
        return [job_of(row) for row in rows]

    def next(self) -> Job | None:
        """Take up the job that waits longest, of an owner of whom the fewest are being read."""
        with self._writing() as database:
            taken = database.execute(
                "UPDATE jobs SET state = 'running', started = coalesce(started, ?) WHERE number ="
                " (SELECT number FROM jobs AS one WHERE state = 'queued' ORDER BY"
                " (SELECT count(*) FROM jobs WHERE state = 'running' AND owner = one.owner),"
                " number LIMIT 1) RETURNING number",
                (time.time(),),
            ).fetchone()
            if taken is None:
                return None
            row = database.execute("SELECT * FROM shown WHERE number = ?", tuple(taken)).fetchone()
        return job_of(row)

    def is_running(self, job: Job) -> bool:
        """Whether a job that was taken up has not been ended since."""
        with self._reading() as database:
            row = database.execute(
                "SELECT 1 FROM jobs WHERE number = ? AND state = 'running'", (job.number,)
            ).fetchone()
        return row is not None

    def put_back(self, job: Job) -> None:
        """A job that was taken up waits again, before those that came after it."""
        with self._writing() as database:
            database.execute(
                "UPDATE jobs SET state = 'queued' WHERE number = ? AND state = 'running'",
                (job.number,),
            )

    def opened(self, job: Job, info: SourceInfo, selected: int, engine: str) -> set[int]:
        """The file was opened.

        Returns:
            Positions in the selection whose pages are out already.
        """
        with self._writing() as database:
            database.execute(
                "UPDATE jobs SET info = ?, selected = ?, engine = ? WHERE number = ?",
                (orjson.dumps(asdict(info)).decode(), selected, engine, job.number),
            )
            rows = database.execute("SELECT position FROM pages WHERE job = ?", (job.number,))
            return {row["position"] for row in rows}

    def page_out(self, job: Job, position: int, page: Page) -> None:
        """Keep a page."""
        body = encode_page(page)
        failed = int(page.status.value == "failed")
        with self._writing() as database:
            row = database.execute(
                "UPDATE jobs SET read = read + 1, failed = failed + ? WHERE number = ?"
                " RETURNING read",
                (failed, job.number),
            ).fetchone()
            if row is None:
                # Its client has cancelled and forgotten it meanwhile.
                return
            serial = row["read"]
            database.execute(
                "INSERT INTO pages (job, position, serial, number, status, body)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (job.number, position, serial, page.number, page.status.value, body),
            )
            for code in {problem.code for problem in page.problems}:
                database.execute(
                    "INSERT INTO problems (job, code, pages) VALUES (?, ?, 1)"
                    " ON CONFLICT (job, code) DO UPDATE SET pages = pages + 1",
                    (job.number, str(code)),
                )

    def end(self, job: Job, state: JobState, error: MoonpressError | None = None) -> bool:
        """A job ends; whether it had not ended before."""
        said = (None, None, None) if error is None else (error.code, str(error), error.hint)
        with self._writing() as database:
            changed = database.execute(
                "UPDATE jobs SET state = ?, ended = ?, code = ?, message = ?, hint = ?,"
                # Nor is its password, once there is nothing more to read.
                " request = json_set(request, '$.password', NULL),"
                " webhook = CASE webhook WHEN 'waiting' THEN 'due' ELSE webhook END"
                " WHERE number = ? AND state IN ('queued', 'running')",
                (state.value, time.time(), *said, job.number),
            ).rowcount
        # What it was read from is not needed any more.
        (self.folder / job.id / _UPLOAD).unlink(missing_ok=True)
        return bool(changed)

    def remove(self, job: Job) -> None:
        """Forget a job and all of its files."""
        with self._writing() as database:
            database.execute("DELETE FROM jobs WHERE number = ?", (job.number,))
        shutil.rmtree(self.folder / job.id, ignore_errors=True)

    def expired(self, before: float) -> list[Job]:
        """Jobs that ended before that time; a hundred at most."""
        with self._reading() as database:
            rows = database.execute(
                f"SELECT * FROM shown WHERE state IN {_ENDED} AND ended < ? LIMIT 100",  # noqa: S608 - no value of others
                (before,),
            ).fetchall()
        return [job_of(row) for row in rows]

    def remove_strays(self) -> None:
        """Remove what a service that was killed left of jobs that are none.

        To be called before jobs come: a new one has its folder first and its row then.
        """
        with self._reading() as database:
            known = {row["id"] for row in database.execute("SELECT id FROM jobs")}
        for one in self.folder.iterdir():
            # The operator may have named a folder that holds other things.
            ours = _IS_NAME.fullmatch(one.name) is not None and not one.is_symlink()
            if ours and one.is_dir() and one.name not in known:
                shutil.rmtree(one, ignore_errors=True)

    def marks(self, job: Job, *, after: int, most: int) -> list[PageMark]:
        """Pages in the order in which they came out, behind the ``after``-th."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT serial, number, status FROM pages WHERE job = ? AND serial > ?"
                " ORDER BY serial LIMIT ?",
                (job.number, after, most),
            ).fetchall()
        return [PageMark(row["serial"], row["number"], row["status"]) for row in rows]

    def pages(self, job: Job, *, after: int, most: int) -> list[tuple[int, Page]]:
        """The same pages with their content, each with its serial."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT serial, body FROM pages WHERE job = ? AND serial > ?"
                " ORDER BY serial LIMIT ?",
                (job.number, after, most),
            ).fetchall()
        return [(row["serial"], decode_page(row["body"])) for row in rows]

    def upload(self, job: Job) -> Path:
        """The file to read."""
        return self.folder / job.id / _UPLOAD

    def result(self, job: Job, form: OutputFormat) -> Path:
        """The file of its document in a format, which may not have been made yet."""
        return self.folder / job.id / f"result-{form}.json"

    def figures(self, job: Job) -> Path:
        """The folder of its figures, which is made."""
        place = self.folder / job.id / _FIGURES
        place.mkdir(exist_ok=True)
        return place

    def next_webhook(self, without: Sequence[int], owners: Sequence[str]) -> Job | None:
        """The job whose client is to be told first, now or later.

        Args:
            without: Numbers of jobs that are left out.
            owners: Whose jobs are left out.
        """
        with self._reading() as database:
            row = database.execute(
                "SELECT * FROM shown WHERE webhook = 'due'"
                " AND number NOT IN (SELECT value FROM json_each(?))"
                " AND owner NOT IN (SELECT value FROM json_each(?)) ORDER BY webhook_at LIMIT 1",
                (json.dumps(without), json.dumps(owners)),
            ).fetchone()
        return None if row is None else job_of(row)

    def told(self, job: Job, state: WebhookState, *, again_at: float = 0.0) -> None:
        """A client was told, or could not be."""
        with self._writing() as database:
            database.execute(
                "UPDATE jobs SET webhook = ?, webhook_tries = webhook_tries + 1, webhook_at = ?"
                " WHERE number = ?",
                (state.value, again_at, job.number),
            )

    def counts(self) -> dict[str, int]:
        """Jobs by state."""
        with self._reading() as database:
            rows = database.execute("SELECT state, count(*) AS n FROM jobs GROUP BY state")
            found = {row["state"]: row["n"] for row in rows}
        return {state.value: found.get(state.value, 0) for state in JobState}

    def close(self) -> None:
        """Free the folder for another service."""
        with self._guard:
            self._database.close()
            self._claim.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._guard, files.disk_errors(self.path, WORDS):
            yield self._database

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                # On a full disk sqlite may have taken everything back itself.
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise
