"""Lists of inputs and JSONL manifests."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from moonpress.errors import InputCorrupt, InputEmpty, InputMissing, InputUnreadable
from tests.sources.inputs.helpers import fill, found, ids, make_zip, options


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return tmp_path / "scratch"


def manifest(path: Path, *records: object) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(record) for record in records))
    return path


def test_a_list_names_one_input_a_line(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "data/a.pdf", "data/sub/b.pdf", "data/sub/n.md", "other/c.pdf")
    make_zip(tmp_path / "data/z.zip", {"in/d.pdf": b"d"})
    (tmp_path / "data/list.txt").write_text(
        "\ufeffa.pdf\r\n\n# a comment\nsub\n../other/c.pdf\nz.zip\nhttps://h.example/x/e.pdf\n"
        "arXiv:2401.01234v2\narxiv:hep-th/9901001\ns*b/*.pdf\n"
    )
    items, problems = found([f"@{tmp_path}/data/list.txt"], options(scratch))
    outside = "@file" + str(tmp_path / "other/c.pdf")
    assert not problems
    assert ids(items) == [
        "a.pdf",
        "sub/b.pdf",
        outside,
        "z.zip/in/d.pdf",
        "@https/h.example/x/e.pdf",
        "@arxiv/2401.01234v2",
        "@arxiv/hep-th/9901001",
        "sub/b.pdf",
    ]
    assert items[5].uri == "https://arxiv.org/pdf/2401.01234v2"
    assert items[6].uri == "https://arxiv.org/pdf/hep-th/9901001"
    assert items[1].uri == items[7].uri


def test_relative_lines_begin_at_the_list_wherever_the_run_is_started(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "data/a.pdf")
    (tmp_path / "data/list.txt").write_text("a.pdf\n")
    monkeypatch.chdir("/")
    items, _ = found([f"@{tmp_path}/data/list.txt"], options(scratch))
    assert [item.uri for item in items] == [str(tmp_path / "data/a.pdf")]


def test_bad_lines_are_told_by_number(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "a.pdf")
    (tmp_path / "list.txt").write_bytes(b"no.pdf\narxiv:nonsense\n" + b"x" * (3 << 20) + b"\na.pdf")
    items, problems = found([f"@{tmp_path}/list.txt"], options(scratch))
    assert ids(items) == ["a.pdf"]
    assert [type(problem.error) for problem in problems] == [
        InputMissing,
        InputUnreadable,
        InputCorrupt,
    ]
    assert problems[1].name == f"@{tmp_path}/list.txt, line 2"
    assert problems[2].name.endswith("line 3")


def test_lists_hold_no_lists(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "list.txt").write_text("@list.txt\n")
    items, problems = found([f"@{tmp_path}/list.txt"], options(scratch))
    assert not items
    assert isinstance(problems[0].error, InputMissing)


def test_bytes_that_are_no_utf8_name_files(tmp_path: Path, scratch: Path) -> None:
    name = os.fsdecode(b"bad-\xff.pdf")
    (tmp_path / name).write_bytes(b"x")
    (tmp_path / "list.txt").write_bytes(b"bad-\xff.pdf\n")
    items, problems = found([f"@{tmp_path}/list.txt"], options(scratch))
    assert not problems
    assert items[0].size == 1


def test_lists_that_are_missing_or_empty(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "empty.txt").touch()
    _, problems = found([f"@{tmp_path}/no.txt", f"@{tmp_path}/empty.txt"], options(scratch))
    assert [type(problem.error) for problem in problems] == [InputMissing, InputEmpty]


def test_manifest_fields_reach_the_items(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "a.pdf", "b.pdf")
    make_zip(tmp_path / "z.zip", {"c.pdf": b"c"})
    path = manifest(
        tmp_path / "m.jsonl",
        {"path": "a.pdf", "id": "first/one", "pages": "1-3", "password": "x", "more": [1]},
        {"path": "b.pdf", "pages": 2},
        {"url": "https://h.example/c.pdf"},
        {"path": "z.zip", "id": "zipped", "pages": "1"},
        {"url": "arxiv:2401.01234"},
    )
    items, problems = found([path], options(scratch))
    assert not problems
    assert ids(items) == [
        "first/one",
        "b.pdf",
        "@https/h.example/c.pdf",
        "zipped/c.pdf",
        "@arxiv/2401.01234",
    ]
    assert [(item.pages, item.password) for item in items] == [
        ("1-3", "x"),
        ("2", None),
        (None, None),
        ("1", None),
        (None, None),
    ]


def test_ids_of_a_manifest_are_made_safe(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "a.pdf")
    path = manifest(tmp_path / "m.jsonl", {"path": "a.pdf", "id": "../@x//y\n"})
    (item,), _ = found([path], options(scratch))
    parts = item.id.split("/")
    assert len(parts) == 4
    assert not any(part in {"", ".", ".."} or part.startswith("@") for part in parts)


def test_names_in_a_manifest_are_exact(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "a.pdf")
    _, problems = found([manifest(tmp_path / "m.jsonl", {"path": "*.pdf"})], options(scratch))
    assert isinstance(problems[0].error, InputMissing)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "no JSON"),
        (b"[1]", "no JSON object"),
        (b"{}", "either 'path' or 'url'"),
        (b'{"path": "a.pdf", "url": "https://h/a.pdf"}', "either 'path' or 'url'"),
        (b'{"path": 3}', "either 'path' or 'url'"),
        (b'{"path": "a.pdf", "pages": true}', "'pages' has to be a text"),
        (b'{"path": "a.pdf", "id": ""}', "'id' has to be a text"),
        (b'{"path": "\xff"}', "no JSON"),
    ],
)
def test_a_bad_line_of_a_manifest_costs_itself_only(
    tmp_path: Path, scratch: Path, line: bytes, message: str
) -> None:
    fill(tmp_path, "a.pdf")
    (tmp_path / "m.jsonl").write_bytes(b'{"path": "a.pdf"}\n' + line + b'\n{"path": "a.pdf"}')
    items, problems = found([tmp_path / "m.jsonl"], options(scratch))
    assert len(items) == 2
    assert problems[0].name == f"{tmp_path}/m.jsonl, line 2"
    assert message in problems[0].error.message


def test_several_lists_do_not_collide(tmp_path: Path, scratch: Path) -> None:
    fill(tmp_path, "x/a.pdf", "y/a.pdf")
    for folder in "xy":
        (tmp_path / folder / "list.txt").write_text("a.pdf\n")
    items, _ = found([f"@{tmp_path}/x/list.txt", f"@{tmp_path}/y/list.txt"], options(scratch))
    assert len(set(ids(items))) == 2
