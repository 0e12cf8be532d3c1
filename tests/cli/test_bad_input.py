"""Bad input, each by name: one line, the right exit code, nothing written, no traceback."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import COMMAND, Chandra
from tests.cli.small_pdf import small_pdf


def missing(folder: Path) -> Path:
    return folder / "absent.pdf"


def a_folder(folder: Path) -> Path:
    (folder / "in.pdf").mkdir()
    return folder / "in.pdf"


def empty(folder: Path) -> Path:
    (folder / "in.pdf").touch()
    return folder / "in.pdf"


def text(folder: Path) -> Path:
    (folder / "in.pdf").write_text("Dear reader,\nthis is no PDF.\n" * 50)
    return folder / "in.pdf"


def a_socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        # Names of sockets are short, and the folder's is long.
        os.chdir(folder)
        server.bind("in.pdf")
        os.chdir(here)
    return folder / "in.pdf"


def broken(folder: Path) -> Path:
    (folder / "in.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog\n" + bytes(200))
    return folder / "in.pdf"


def cut_picture(folder: Path) -> Path:
    (folder / "in.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0")
    return folder / "in.png"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (missing, "input-missing"),
        (a_folder, "input-not-a-file"),
        (a_socket, "input-not-a-file"),
        (empty, "input-empty"),
        (text, "input-unsupported"),
        (broken, "input-corrupt"),
        (cut_picture, "input-corrupt"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_input_that_cannot_be_read(chandra: Chandra, make: object, code: str) -> None:
    assert callable(make)
    path = make(chandra.folder)
    before = chandra.files()

    result = chandra.scripted(path.name, "-o", "r.md")

    assert result.code == 4
    assert result.line.startswith(f"error: {path.name}: ")
    assert result.line.endswith(f"[{code}]")
    assert chandra.files() == before


def test_a_name_that_would_move_the_cursor_is_shown_escaped(chandra: Chandra) -> None:
    result = chandra.scripted("a\nb\x1b[2J\u202e.pdf")

    assert result.line.startswith("error: a\\nb\\x1b[2J\\u202e.pdf: ")


def test_a_name_that_is_no_text_is_shown_escaped(chandra: Chandra) -> None:
    result = chandra.scripted(os.fsdecode(b"caf\xe9.pdf"))

    assert result.line.startswith("error: caf\\udce9.pdf: ")


@pytest.mark.parametrize("pages", ["99", "0", "2-", "a", "3-1-2", "1,,2x", "-4"])
def test_pages_that_there_are_not(chandra: Chandra, pages: str) -> None:
    result = chandra.scripted("three.pdf", "--pages", pages, "-o", "r.md")

    if pages == "2-":
        # An open range is either understood or refused, never half understood.
        assert result.code in {0, 2}
        return
    assert result.code == 2
    assert result.line.startswith("error: three.pdf: ")
    assert result.line.endswith("[page-range]")
    assert chandra.files() == {"three.pdf"}


@pytest.mark.parametrize(
    "output",
    ["three.pdf/out.md", "/proc/out.md", "/proc/out/", "absent/folder/out.md", "/dev/null/x.md"],
)
def test_output_that_cannot_be_written(chandra: Chandra, output: str) -> None:
    result = chandra.scripted("three.pdf", "-o", output)

    if output.startswith("absent/") and result.code == 0:
        # Making the folders is as good as refusing.
        assert (chandra.folder / output).is_file()
        return
    assert result.code == 2
    assert result.line.startswith("error: ")
    assert result.line.endswith("[output-unwritable]")
    assert chandra.files() == {"three.pdf"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(chandra: Chandra) -> None:
    closed = chandra.folder / "closed"
    closed.mkdir(mode=0o555)

    result = chandra.scripted("three.pdf", "-o", "closed/out.md")

    assert result.code == 2
    assert result.line.endswith("[output-unwritable]")


def test_the_output_may_not_be_the_input(chandra: Chandra) -> None:
    source = chandra.folder / "page.md"
    source.write_bytes(small_pdf(1))
    (chandra.folder / "same.md").symlink_to("page.md")

    for output in ("page.md", "./page.md", "same.md"):
        result = chandra.scripted("page.md", "-o", output)
        assert result.code == 2
        assert result.line.endswith("[output-unwritable]")
    assert source.read_bytes() == small_pdf(1)


@pytest.mark.parametrize(
    "options", [("--engine", "oracle"), ("--engine", "scripted", "-f", "docx", "-o", "out/")]
)
def test_names_that_nobody_knows(chandra: Chandra, options: tuple[str, ...]) -> None:
    result = chandra("three.pdf", *options)

    assert result.code == 2
    assert "Choose among" in result.line
    assert result.line.endswith("[unknown-name]")
    assert chandra.files() == {"three.pdf"}


def test_a_full_disk_leaves_no_half_file(chandra: Chandra) -> None:
    """A bound of the size of files stands for a full disk: both fail in the middle of writing.

    Page pictures travel through files too, in memory: at 18 dpi they stay under the bound.
    """
    bound = 150_000
    done = subprocess.run(
        [COMMAND, "three.pdf", "--engine", "scripted", "-o", "r.md", "--dpi", "18"],
        cwd=chandra.folder,
        env={**chandra.env, "SCRIPTED_LONG": "2"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bound, bound)),
    )

    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: r.md: cannot be written")
    assert chandra.files() == {"three.pdf"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_really_full_disk(chandra: Chandra) -> None:
    tiny = chandra.folder / "tiny"
    tiny.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(tiny)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        result = chandra.scripted("three.pdf", "-o", "tiny/r.md", SCRIPTED_LONG="2")
        assert result.code == 4
        assert result.line.endswith("[no-space]")
        assert list(tiny.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tiny)], check=True)


def test_nothing_is_piped_in(chandra: Chandra) -> None:
    result = chandra.scripted("-")

    assert result.code == 4
    assert result.line.startswith("error: standard input: ")
    assert result.line.endswith("[input-empty]")


@pytest.mark.parametrize("stream", ["<&-", ">&-"])
def test_a_closed_standard_stream(chandra: Chandra, stream: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" - --engine scripted {stream}', COMMAND],
        cwd=chandra.folder,
        env=chandra.env,
        input=small_pdf(1),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.shared
@pytest.mark.parametrize(
    ("options", "code"), [((), 4), (("--password", "sesame"), 4), (("--password", "asdfzxcv"), 0)]
)
def test_an_encrypted_file(
    chandra: Chandra, shared: Path, options: tuple[str, ...], code: int
) -> None:
    locked = shared / "data" / "nasty" / "pypdf_r4-aes-user-password.pdf"

    result = chandra.scripted(locked, *options, "-o", "r.md")

    assert result.code == code
    if code:
        assert result.line.endswith("[password-needed]")
        assert "--password" in result.line
    assert "sesame" not in result.err


@pytest.mark.shared
def test_the_password_may_come_from_the_environment(chandra: Chandra, shared: Path) -> None:
    locked = shared / "data" / "nasty" / "pypdf_r4-aes-user-password.pdf"

    assert chandra.scripted(locked, "-o", "r.md", MOONPRESS_PASSWORD="asdfzxcv").code == 0
