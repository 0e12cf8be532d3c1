"""Shards that are done: once, whoever comes first, and their files show after that only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moonpress.batch.commits import Commits
from moonpress.batch.leases import Lease, Leases


@pytest.fixture(params=["folder", "address"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    out = str(tmp_path / "out")
    return out if request.param == "folder" else f"local://{out}"


def _folder(root: str) -> Path:
    return Path(root.removeprefix("local://"))


def _file(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "part-00000.jsonl.zst"
    path.write_text(text)
    return path


def _parts(root: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(_folder(root).glob("part-*"))}


def _result(item_id: str) -> dict[str, Any]:
    return {"id": item_id, "location": "part-00000.jsonl.zst"}


def test_the_first_counts_and_the_second_leaves_nothing(root: str, tmp_path: Path) -> None:
    commits = Commits(root)
    lease = Leases(commits.leases).take("x-1")
    assert lease is not None
    first = _file(tmp_path / "1", "first")
    second = _file(tmp_path / "2", "second")

    record = commits.commit(lease, [_result("a")], [(first, ["a"])])
    assert record is not None
    assert record.results[0]["location"] == "part-00000.jsonl.zst"
    assert commits.commit(lease, [_result("a")], [(second, ["a"])]) is None

    assert _parts(root) == {"part-00000.jsonl.zst": "first"}
    assert commits.done() == ["x-1"]
    commits.close()
    assert list((_folder(root) / ".moonpress" / "waiting").iterdir()) == []
    assert sorted(path.name for path in _folder(root).glob(".part*")) == [".part-00000.ids"]


def test_files_of_shards_have_numbers_of_their_own(root: str, tmp_path: Path) -> None:
    commits = Commits(root)
    known = [{"id": "old", "location": "part-00000.jsonl.zst"}]
    for key in ("x-1", "y-1"):
        path = _file(tmp_path / key, key)
        assert commits.commit(Lease(key, 1), [_result(key)], [(path, [key])], known) is not None
    assert _parts(root) == {"part-00000.jsonl.zst": "x-1", "part-00001.jsonl.zst": "y-1"}
    record = commits.record("y-1")
    assert record is not None
    places = {one["id"]: one["location"] for one in record.results}
    assert places == {"old": "part-00000.jsonl.zst", "y-1": "part-00001.jsonl.zst"}


def test_who_lost_the_lease_publishes_nothing(root: str, tmp_path: Path) -> None:
    commits = Commits(root)
    leases = Leases(commits.leases)
    stale, later = leases.take("x-1"), leases.take("x-1")
    assert stale is not None
    assert later is not None
    assert commits.commit(stale, [_result("a")], [(_file(tmp_path, "stale"), ["a"])]) is None
    assert commits.done() == []
    assert commits.commit(later, [_result("a")], [(_file(tmp_path, "later"), ["a"])]) is not None
    assert list(_parts(root).values()) == ["later"]


def test_whoever_finds_files_of_a_done_shard_puts_them_into_place(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class _Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise _Killed

    commits = Commits(root)
    with monkeypatch.context() as patched:
        patched.setattr(Commits, "_settle", killed)
        with pytest.raises(_Killed):
            commits.commit(Lease("x-1", 1), [_result("a")], [(_file(tmp_path, "text"), ["a"])])
    assert _parts(root) == {}
    assert Commits(root).record("x-1") is not None
    assert list(_parts(root).values()) == ["text"]
    assert Commits(root).record("x-1") is not None


def test_files_of_workers_that_died_before_are_swept(root: str, tmp_path: Path) -> None:
    commits = Commits(root)
    waiting = _folder(root) / ".moonpress" / "waiting"
    for name in ("x-1.1-part-00000.jsonl.zst", "y-1.1-part-00000.jsonl.zst"):
        (waiting / name).write_text("dead")
    assert commits.commit(Lease("x-1", 2), [], [(_file(tmp_path, "alive"), ["a"])]) is not None
    commits.sweep()
    commits.close()
    assert [path.name for path in waiting.iterdir()] == ["y-1.1-part-00000.jsonl.zst"]
    assert list(_parts(root).values()) == ["alive"]


def test_no_shard_is_no_record(root: str) -> None:
    assert Commits(root).record("x-1") is None
