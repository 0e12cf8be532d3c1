"""What the folder of jobs holds, for whom, and what happens to what else lies there."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from moonpress.document import Page, PageStatus, Problem, ProblemCode, Usage
from moonpress.errors import EngineBusy, JobMissing
from moonpress.serving.jobs.job import Job, JobState
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.requests import JobRequest
from moonpress.sources.base import SourceInfo

_INFO = SourceInfo(media_type="application/pdf", page_count=3, sha256="0" * 64, bytes=6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    made = JobStore(tmp_path / "jobs", most=3)
    yield made
    made.close()


def _add(store: JobStore, owner: str = "", **fields: str) -> Job:
    return store.add(JobRequest(**fields), BytesIO(b"a file"), owner)  # type: ignore[arg-type]


def _page(number: int, *codes: str) -> Page:
    status = PageStatus.FAILED if codes else PageStatus.BLANK
    problems = tuple(Problem(code, "a message") for code in codes)
    return Page(number, None, status, problems=problems, usage=Usage())


def test_everything_is_for_its_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = JobStore(tmp_path, most=1)
    _add(store)
    for path in tmp_path.iterdir():
        if path.suffix != ".lock":
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert {path.name for path in tmp_path.glob("jobs.sqlite*")} > {"jobs.sqlite"}
    store.close()


def test_only_folders_of_jobs_are_cleared_away(store: JobStore) -> None:
    kept = _add(store)
    (store.folder / "photographs").mkdir()
    (store.folder / ("0" * 32)).mkdir()
    elsewhere = store.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (store.folder / ("f" * 32)).symlink_to(elsewhere)

    store.remove_strays()

    folders = {path.name for path in store.folder.iterdir() if path.is_dir()}
    assert folders == {kept.id, "photographs", "f" * 32}
    assert elsewhere.exists()


def test_a_password_is_forgotten_at_the_end(store: JobStore) -> None:
    job = _add(store, password="open sesame")
    assert store.job(job.id, "").request.password == "open sesame"
    store.end(job, JobState.CANCELLED)
    assert store.job(job.id, "").request.password is None
    assert not store.upload(job).exists()


def test_keys_take_turns(store: JobStore) -> None:
    first, second, other = _add(store, "a"), _add(store, "a"), _add(store, "b")
    taken = [store.next() for _ in range(3)]
    assert [one.id for one in taken if one is not None] == [first.id, other.id, second.id]
    assert store.next() is None


def test_one_that_is_refused_leaves_nothing(store: JobStore) -> None:
    for _ in range(3):
        _add(store)
    with pytest.raises(EngineBusy, match="3 jobs wait already"):
        _add(store)
    assert len([path for path in store.folder.iterdir() if path.is_dir()]) == 3


def test_a_job_is_found_by_its_own_key_alone(store: JobStore) -> None:
    job = _add(store, "a")
    with pytest.raises(JobMissing):
        store.job(job.id, "b")
    with pytest.raises(JobMissing):
        store.job("../../etc", "a")


def test_what_went_wrong_is_counted(store: JobStore) -> None:
    job = _add(store)
    store.opened(job, _INFO, 3, "engine")
    store.page_out(job, 0, _page(1))
    store.page_out(job, 1, _page(2, ProblemCode.ENGINE_FAILED, ProblemCode.DOWNSCALED))
    store.page_out(job, 2, _page(3, ProblemCode.ENGINE_FAILED, ProblemCode.ENGINE_FAILED))
    now = store.job(job.id, "")
    assert (now.read, now.failed) == (3, 2)
    assert now.problems == {"engine-failed": 2, "downscaled": 1}
    store.remove(job)
    with pytest.raises(JobMissing):
        store.job(job.id, "")
