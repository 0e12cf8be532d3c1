"""The whole document of a job, made of its pages.

Owns making the answer to ``/v1/jobs/ID/result`` as a file. Runs in a process of its own for long
documents: see `moonpress.serving.jobs.results`. Never writes to the file of jobs.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import orjson

from moonpress import database as files
from moonpress.errors import JobMissing
from moonpress.outputs.disk import temporary_name, write_new
from moonpress.pipeline.finish import finish_document
from moonpress.pipeline.spool import decode_page
from moonpress.serving.answers import OutputFormat, document_answer
from moonpress.serving.jobs.job_file import WORDS
from moonpress.serving.jobs.rows import job_of
from moonpress.serving.service import Reading
from moonpress.sources.base import SourceInfo


class ResultWriter:
    """What a worker process holds."""

    def write(self, jobs: Path, number: int, form: OutputFormat, target: Path) -> None:
        """As `write_result`."""
        write_result(jobs, number, form, target)


def write_result(jobs: Path, number: int, form: OutputFormat, target: Path) -> None:
    """Write the document of a job all of whose pages are out.

    Args:
        jobs: The file of jobs.
        number: Of the job.
        form: Of the content.
        target: File in the job's folder, which is there whole or not at all.

    Raises:
        JobMissing: the job is forgotten.
        NoSpace: the disk is full.
        OutputError: it cannot be written.
    """
    reading = _reading(jobs, number, target.parent)
    body = orjson.dumps(document_answer(reading, form))
    temporary = temporary_name(target.parent)
    with files.disk_errors(target, WORDS):
        try:
            write_new(temporary, body)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _reading(jobs: Path, number: int, folder: Path) -> Reading:
    with files.disk_errors(jobs, WORDS), closing(files.connect(jobs)) as database:
        row = database.execute("SELECT * FROM shown WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise JobMissing("there is no such job", hint="It may have expired")
        pages = database.execute(
            "SELECT body FROM pages WHERE job = ? ORDER BY position", (number,)
        )
        document = finish_document(
            [decode_page(page["body"]) for page in pages],
            info=SourceInfo(**orjson.loads(row["info"])),
            name=job_of(row).request.name,
            engine_name=row["engine"],
        )
    crops = folder / "figures"
    found = sorted(crops.iterdir()) if crops.is_dir() else []
    return Reading(document, {path.stem: path for path in found})
