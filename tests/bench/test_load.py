"""Tests of ``chandra-bench load`` against a stand-in server in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from moonpress.bench.pictures import Pictures, draw_pages
from moonpress.engines.chandra.picture import ImageFormat
from moonpress.errors import InputError, UsageError
from tests.cli.small_pdf import small_pdf

_COMMAND = Path(sys.executable).with_name("chandra-bench")


@pytest.fixture(scope="module")
def server(checkout: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.client.server", "40", "400"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=checkout) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        process.kill()


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.pdf"
    path.write_bytes(small_pdf(3))
    return path


def _bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_COMMAND, "load", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_two_servers_get_the_same_load_and_figures_of_their_own(
    server: str, paper: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    other = server.replace("127.0.0.1", "localhost")
    options = ("--pages", "12", "--clients", "3", "--dpi", "40", "--mean-tokens", "40")
    done = _bench(paper, "--url", server, "--versus", other, *options, "-o", folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((folder / "load.json").read_text())
    assert list(report["servers"]) == [server, other]
    for one in report["servers"].values():
        figures = one["figures"]
        assert (figures["pages"], figures["failed"]) == (12, 0)
        assert figures["output_tokens_per_page"] == 40
        # 40 tokens at 400 a second, three pages at once.
        assert figures["latency"]["p50"] > 0.09
        assert figures["pages_per_second"] < 31
    page = (folder / "load.html").read_text()
    assert page.count("<polyline") == 2
    assert server in page


def test_no_server_is_one_line(paper: Path) -> None:
    done = _bench(paper, "--url", "http://127.0.0.1:9/v1", "--dpi", "40", "--quiet")
    assert done.returncode == 5
    assert len(done.stderr.splitlines()) == 1
    assert "http://127.0.0.1:9/v1" in done.stderr


def test_no_copy_of_a_page_is_like_another() -> None:
    page = np.full((320, 256, 3), 255, dtype=np.uint8)
    pictures = Pictures([page], ImageFormat.PNG)
    seen = {pictures.numbered(number).data for number in range(40)}
    assert len(seen) == 40
    assert page.min() == 255


def test_pages_come_from_files_and_folders(paper: Path) -> None:
    (paper.parent / "notes.txt").write_text("no page")
    assert len(list(draw_pages([str(paper.parent)], most=2, dpi=40))) == 2
    with pytest.raises(InputError):
        list(draw_pages([str(paper.parent / "gone.pdf")], most=2))
    empty = paper.parent / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="no pages"):
        list(draw_pages([str(empty)], most=2))
