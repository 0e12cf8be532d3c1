from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from moonpress.errors import OutputUnwritable, UnknownName, UsageError
from moonpress.outputs.targets import Targets, check_writable, resolve_targets


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_default_is_markdown_in_the_current_folder() -> None:
    targets = resolve_targets("/data/re port.v2.pdf", None, [])
    assert targets == Targets({"markdown": Path("re port.v2.md")}, Path("re port.v2_files"))


def test_suffix_names_the_format() -> None:
    for suffix, name in {
        ".md": "markdown",
        ".html": "html",
        ".JSON": "json",
        ".txt": "text",
        ".Chunks.jsonl": "chunks",
    }.items():
        targets = resolve_targets("x.pdf", f"out{suffix}", [])
        assert targets == Targets({name: Path(f"out{suffix}")}, Path("out_files"))


def test_folder_takes_all_formats(tmp_path: Path) -> None:
    new = resolve_targets("a/x.pdf", "new/", [])
    assert {n: str(p) for n, p in new.files.items()} == {
        "html": "new/x.html", "json": "new/x.json", "markdown": "new/x.md", "text": "new/x.txt",
    }  # fmt: skip
    assert new.figures == Path("new/x_files")
    check_writable(new)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old.md").mkdir()
    assert resolve_targets("x.pdf", "old.md", ["json"]).files == {"json": Path("old.md/x.json")}


def test_a_suffix_of_two_parts_is_one() -> None:
    assert resolve_targets("x.v2.pdf", "d/", ["chunks"]).files == {
        "chunks": Path("d/x.v2.chunks.jsonl")
    }
    for output in (".chunks.jsonl", "x.jsonl"):
        with pytest.raises(UsageError):
            resolve_targets("x.pdf", output, [])


def test_format_picks() -> None:
    assert set(resolve_targets("x.pdf", "d/", ["json", "text", "json"]).files) == {"json", "text"}
    assert resolve_targets("x.pdf", "x.out", ["json"]).files == {"json": Path("x.out")}
    assert resolve_targets("x.pdf", None, ["json"]).files == {"json": Path("x.json")}


def test_standard_output_takes_one_format_and_no_figures() -> None:
    assert resolve_targets("x.pdf", "-", []) == Targets({}, None, stdout="markdown")
    assert resolve_targets("x.pdf", "-", ["json"]).stdout == "json"


@pytest.mark.parametrize(
    ("output", "formats", "error", "words"),
    [
        ("-", ["json", "text"], UsageError, "standard output takes one format"),
        ("x.md", ["json", "text"], UsageError, "one file takes one format"),
        ("x.docx", [], UsageError, "End it in .chunks.jsonl, .html, .json, .md, .txt"),
        ("noslash", [], UsageError, "or in / for a folder"),
        ("", [], UsageError, "empty"),
        ("x.md", ["docx"], UnknownName, "docx"),
    ],
)
def test_what_makes_no_sense(
    output: str, formats: list[str], error: type[UsageError], words: str
) -> None:
    with pytest.raises(error) as caught:
        resolve_targets("x.pdf", output, formats)
    assert words in str(caught.value)


@pytest.mark.parametrize("output", ["scan.png", "./scan.png", "link.png"])
def test_input_is_never_overwritten(output: str, tmp_path: Path) -> None:
    (tmp_path / "scan.png").write_bytes(b"x")
    (tmp_path / "link.png").symlink_to("scan.png")
    with pytest.raises(OutputUnwritable):
        resolve_targets("scan.png", output, ["markdown"])


def test_input_in_the_figures_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out_files").mkdir()
    (tmp_path / "out_files" / "p1-b1.png").write_bytes(b"x")
    with pytest.raises(OutputUnwritable):
        resolve_targets("out_files/p1-b1.png", "out.md", [])


def refusal(output: str) -> str:
    with pytest.raises(OutputUnwritable) as caught:
        check_writable(resolve_targets("x.pdf", output, []))
    return str(caught.value)


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dir" / "x.md").mkdir(parents=True)
    (tmp_path / "a_files").write_text("")
    (tmp_path / "b_files").mkdir()
    (tmp_path / "b_files" / "holiday.jpg").write_text("")
    assert "there is no such folder" in refusal("missing/x.md")
    assert "is not a folder" in refusal("file/x.md") or "Not a directory" in refusal("file/x.md")
    assert "file" in refusal("file/sub/")
    assert "is a folder" in refusal("dir/")
    assert "in the way" in refusal("a.md")
    assert "holiday.jpg" in refusal("b.md")
    assert "too long" in refusal("x" * 300 + ".md")
    assert refusal("/proc/x.md")


def test_old_crops_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "x_files").mkdir()
    (tmp_path / "x_files" / "p12-b3.jpg").write_text("")
    check_writable(resolve_targets("x.pdf", "x.md", []))


def test_devices_are_written_into_and_get_no_folder() -> None:
    targets = resolve_targets("x.pdf", "/dev/null", ["text"])
    assert targets.figures is None
    check_writable(targets)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_permissions_are_found_out_before_reading(tmp_path: Path) -> None:
    """As an ordinary user, since root may write anywhere."""
    (tmp_path / "locked").mkdir(mode=0o755)
    script = (
        "import os, sys\n"
        "from moonpress.errors import OutputUnwritable\n"
        "from moonpress.outputs.targets import check_writable, resolve_targets\n"
        "targets = resolve_targets('x.pdf', sys.argv[1] + '/', ['text'])\n"
        "os.setuid(65534)\n"
        "try:\n    check_writable(targets)\n"
        "except OutputUnwritable as error:\n    sys.exit(str(error))\n"
    )
    for folder in (tmp_path / "locked", tmp_path / "locked" / "new"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "Permission denied" in done.stderr
        assert "[output-unwritable]" in done.stderr
