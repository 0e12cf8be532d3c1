"""Finding on the local disk: files, folders, patterns, and what stands in the way."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import psutil
import pytest

from moonpress.errors import (
    InputEmpty,
    InputMissing,
    InputNotAFile,
    InputUnreadable,
)
from moonpress.sources.inputs.find import find_items
from moonpress.sources.inputs.item import InputItem
from tests.sources.inputs.helpers import fill, found, ids, options


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return tmp_path / "scratch"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another working folder, for relative paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_folder_gives_paths_below_it_in_order(data: Path, scratch: Path) -> None:
    fill(data, "b.pdf", "a/z.png", "a/b/c.TIFF", "README.md", ".hidden.pdf", ".git/x.pdf", "c")
    left: list[str] = []
    items, problems = found([data], options(scratch, skipped=left.append))
    assert ids(items) == ["a/b/c.TIFF", "a/z.png", "b.pdf"]
    assert not problems
    assert left == [f"{data}/README.md", f"{data}/c"]


def test_items_tell_where_and_what_they_are(data: Path, scratch: Path) -> None:
    fill(data, "a.pdf")
    (item,), _ = found([data], options(scratch))
    assert item.uri == str(data / "a.pdf")
    assert item.name == str(data / "a.pdf")
    assert item.size == 5
    os.utime(data / "a.pdf", ns=(1, 1))
    (later,), _ = found([data], options(scratch))
    assert later.version != item.version
    assert later.id == item.id


def test_a_file_that_is_named_is_taken_whatever_its_suffix(data: Path, scratch: Path) -> None:
    fill(data, "scan.dat", ".hidden", "noend")
    items, problems = found([data / "scan.dat"], options(scratch))
    assert ids(items) == ["scan.dat"]
    items, problems = found([data / "noend", data / ".hidden"], options(scratch))
    assert [Path(item.uri).name for item in items] == ["noend", ".hidden"]
    assert not items[1].id.startswith(".")
    assert not problems


def test_relative_names_are_shown_and_absolute_ones_kept(
    data: Path, scratch: Path, elsewhere: Path
) -> None:
    fill(data, "sub/a.pdf")
    (item,), _ = found(["data"], options(scratch))
    assert (item.id, item.name) == ("sub/a.pdf", "data/sub/a.pdf")
    assert item.uri == str(data / "sub/a.pdf")


def test_several_roots_are_told_apart_by_name(data: Path, scratch: Path) -> None:
    fill(data, "x/a.pdf", "y/a.pdf", "b.pdf")
    items, _ = found([data / "x", data / "y", data / "b.pdf"], options(scratch))
    assert ids(items) == ["x/a.pdf", "y/a.pdf", "b.pdf"]


def test_roots_of_one_name_get_a_digest_that_does_not_depend_on_order(
    data: Path, scratch: Path
) -> None:
    fill(data, "x/papers/a.pdf", "y/papers/a.pdf", "x/r.pdf", "y/r.pdf")
    roots = [data / "x/papers", data / "y/papers", data / "x/r.pdf", data / "y/r.pdf"]
    items, _ = found(roots, options(scratch))
    assert len(set(ids(items))) == 4
    assert items[0].id.startswith("papers~")
    assert items[2].id.startswith("r~")
    assert items[2].id.endswith(".pdf")
    backwards, _ = found(roots[::-1], options(scratch))
    assert {i.uri: i.id for i in items} == {i.uri: i.id for i in backwards}


def test_one_root_named_twice_is_read_once(data: Path, scratch: Path) -> None:
    fill(data, "a.pdf")
    items, _ = found([data, data, f"{data}/"], options(scratch))
    assert ids(items) == ["a.pdf"]


def test_patterns_give_paths_below_their_fixed_part(data: Path, scratch: Path) -> None:
    fill(data, "1/a.pdf", "1/b.png", "2/a.pdf", "2/n/c.pdf", "d.pdf")
    items, problems = found([f"{data}/**/*.pdf"], options(scratch))
    assert ids(items) == ["1/a.pdf", "2/a.pdf", "2/n/c.pdf", "d.pdf"]
    items, _ = found([f"{data}/[13]/*"], options(scratch))
    assert ids(items) == ["1/a.pdf", "1/b.png"]
    assert not problems


def test_a_pattern_takes_folders_whole_and_files_with_the_suffix_it_names(
    data: Path, scratch: Path
) -> None:
    fill(data, "2024-1/n/a.pdf", "2024-2/b.pdf", "2023/c.pdf", "x.scan", "y.md")
    items, _ = found([f"{data}/2024-*"], options(scratch))
    assert ids(items) == ["2024-1/n/a.pdf", "2024-2/b.pdf"]
    items, _ = found([f"{data}/*.scan"], options(scratch))
    assert ids(items) == ["x.scan"]


def test_matches_are_shown_as_the_pattern_was_written(
    data: Path, scratch: Path, elsewhere: Path
) -> None:
    fill(data, "x/a.pdf")
    for pattern, name in (
        ("data/*/a.*", "data/x/a.pdf"),
        ("*/x/a.pdf", "./data/x/a.pdf"),
        (f"{data}/**/*.pdf", f"{data}/x/a.pdf"),
    ):
        (item,), _ = found([pattern], options(scratch))
        assert item.name == name


def test_two_patterns_of_one_folder_are_one_root(data: Path, scratch: Path) -> None:
    fill(data, "a.pdf", "a.png")
    items, _ = found([f"{data}/*.pdf", f"{data}/*.png"], options(scratch))
    assert ids(items) == ["a.pdf", "a.png"]


def test_a_file_with_brackets_in_its_name_is_no_pattern(data: Path, scratch: Path) -> None:
    fill(data, "paper[1].pdf", "paper1.pdf")
    items, _ = found([data / "paper[1].pdf"], options(scratch))
    assert ids(items) == ["paper[1].pdf"]


def test_what_is_missing_or_empty_is_told(data: Path, scratch: Path) -> None:
    (data / "empty").mkdir()
    fill(data, "ok.pdf")
    inputs: list[str | Path] = [
        data / "no.pdf",
        f"{data}/*.tiff",
        data / "empty",
        data / "ok.pdf",
        "a\0b",
    ]
    items, problems = found(inputs, options(scratch))
    assert ids(items) == ["ok.pdf"]
    assert [type(problem.error) for problem in problems] == [
        InputMissing,
        InputMissing,
        InputEmpty,
        InputMissing,
    ]
    assert str(problems[0].error) == f"{data}/no.pdf: no such file. Check the path [input-missing]"


def test_an_empty_name_is_not_the_working_folder(scratch: Path) -> None:
    items, problems = found(["", "@"], options(scratch))
    assert not items
    assert [type(problem.error) for problem in problems] == [InputUnreadable, InputNotAFile]


def test_folders_to_leave_out(data: Path, scratch: Path) -> None:
    fill(data, "a.pdf", "out/b.png")
    (data / "link").symlink_to(data / "out")
    items, problems = found(
        [data], options(scratch, leave_out=(data / "out", data / "not-there-yet"))
    )
    assert ids(items) == ["a.pdf"]
    assert not problems


def test_links_are_followed_and_circles_told(data: Path, scratch: Path) -> None:
    fill(data, "in/a.pdf", "in/deep/b.pdf")
    outside = fill(data.parent / "outside", "c.pdf")
    (data / "in/out").symlink_to(outside)
    (data / "in/file.pdf").symlink_to(outside / "c.pdf")
    (data / "in/self").symlink_to(".")
    (data / "in/deep/up").symlink_to("../..")
    (data / "in/system").symlink_to("/")
    (data / "in/x.pdf").symlink_to("y.pdf")
    (data / "in/y.pdf").symlink_to("x.pdf")
    (data / "in/gone.pdf").symlink_to("nowhere.pdf")
    items, problems = found([data / "in"], options(scratch))
    assert ids(items) == ["a.pdf", "deep/b.pdf", "file.pdf", "out/c.pdf"]
    told = {Path(problem.name).name: problem.error.message for problem in problems}
    circle = "the link leads in a circle"
    assert told.pop("x.pdf") == told.pop("y.pdf")
    assert told == {
        "self": circle,
        "up": circle,
        "system": circle,
        "gone.pdf": "the link leads nowhere",
    }


def test_folders_that_link_to_each_other_in_all_ways_end(data: Path, scratch: Path) -> None:
    for one in range(6):
        fill(data, f"{one}/a.pdf")
        for other in range(6):
            (data / str(one) / f"to{other}").symlink_to(data / str(other))
    items, problems = found([data], options(scratch))
    assert len(set(ids(items))) == len(items) < 5000
    assert any("more than 4 links" in problem.error.message for problem in problems)


def test_pipes_devices_and_sockets_are_told(data: Path, scratch: Path) -> None:
    os.mkfifo(data / "fifo.pdf")
    (data / "zero.pdf").symlink_to("/dev/zero")
    items, problems = found([data, data / "fifo.pdf"], options(scratch))
    assert not items
    assert {type(problem.error) for problem in problems} == {InputNotAFile}
    assert len(problems) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_costs_itself_only(data: Path, scratch: Path) -> None:
    fill(data, "a/x.pdf", "b.pdf")
    (data / "a").chmod(0)
    items, problems = found([data], options(scratch))
    (data / "a").chmod(0o700)
    assert ids(items) == ["b.pdf"]
    assert isinstance(problems[0].error, InputUnreadable)


def test_a_folder_that_vanishes_or_cannot_be_read_is_told(
    data: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(data, "a/x.pdf", "b.pdf")
    real = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    items, problems = found([data], options(scratch))
    assert ids(items) == ["b.pdf"]
    assert problems[0].name == f"{data}/a"
    assert problems[0].error.message == "permission denied"


def test_odd_names_are_found_and_shown_in_one_line(data: Path, scratch: Path) -> None:
    names = [
        b"new\nline.pdf",
        b"bad-\xff\xfe.pdf",
        b"-rf '$(x)' `id`.pdf",
        b"a" * 240 + b".pdf",
        "日本語 \u202efdp.pdf".encode(),
        b"%s%n\\x.pdf",
        b"UPPER.PDF",
        b"a*b?.pdf",
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(data) + b"/" + name)).write_bytes(b"x")
    items, problems = found([data], options(scratch))
    assert not problems
    assert len({item.id for item in items}) == len(names)
    for item in items:
        assert item.name.isprintable()
        item.uri.encode()
        item.id.encode()


def test_very_deep_folders_do_not_break_it(data: Path, scratch: Path) -> None:
    deep = "/".join(["d"] * 99)
    fill(data, f"{deep}/x.pdf", f"{deep}/d/d/y.pdf")
    items, problems = found([data], options(scratch))
    assert ids(items) == [f"{deep}/x.pdf"]
    assert "nested" in problems[0].error.message


def test_finding_is_lazy_and_memory_does_not_grow(data: Path, scratch: Path) -> None:
    """100,000 documents in 100 folders; links to one file, which are made faster than files."""
    for folder in range(100):
        fill(data, f"{folder:03}/0000.pdf")
        for number in range(1, 1000):
            os.link(data / f"{folder:03}/0000.pdf", data / f"{folder:03}/{number:04}.pdf")
    some = find_items([str(data)], options(scratch))
    assert [item.id for item in islice(some, 2) if isinstance(item, InputItem)] == [
        "000/0000.pdf",
        "000/0001.pdf",
    ]
    process = psutil.Process()
    memory = [process.memory_info().rss for at, _ in enumerate(some) if at in {5000, 99_997}]
    assert memory[1] - memory[0] < 5_000_000
