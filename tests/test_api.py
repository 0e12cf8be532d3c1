"""The public Python functions, as a user's script, notebook or service calls them."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import moonpress
import moonpress.api
from moonpress import Document, PageStatus, convert, convert_async
from moonpress.engines.fake import FakeEngine
from moonpress.errors import InputMissing, OutputUnwritable, PageRangeError, UnknownName

HELLO = Path(__file__).parent / "data" / "hello.pdf"


def test_examples_in_docstrings_are_true(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    result = doctest.testmod(moonpress.api)
    assert result.attempted > 0
    assert result.failed == 0


def test_bytes_and_path_give_the_same_document() -> None:
    from_path = convert(HELLO)
    from_bytes = convert(HELLO.read_bytes())
    assert from_bytes.sha256 == from_path.sha256
    assert [p.blocks for p in from_bytes.pages] == [p.blocks for p in from_path.pages]
    assert (from_bytes.source, from_path.source) == ("document", str(HELLO))
    assert from_path.metadata.title == "Hello, page"


def test_convert_works_where_a_loop_is_running() -> None:
    async def in_a_notebook() -> Document:
        return convert(HELLO, engine=FakeEngine())

    assert anyio.run(in_a_notebook).pages[0].status is PageStatus.OK


def test_a_script_without_main_guard_does_not_start_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from moonpress import convert\n"
        "print('started')\n"
        f"print(convert({str(HELLO)!r}).pages[0].status)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["started", "ok"]


def test_an_engine_of_ones_own_is_left_open() -> None:
    mine = FakeEngine()
    convert(HELLO, engine=mine)
    assert not mine.closed


def test_output_writes_what_the_command_would(tmp_path: Path) -> None:
    document = convert(HELLO, output=f"{tmp_path}/", engine=FakeEngine())
    assert {p.name for p in tmp_path.iterdir()} == {
        "hello.md",
        "hello.html",
        "hello.json",
        "hello.txt",
    }
    assert (tmp_path / "hello.md").read_text() == document.to_markdown()


def test_errors_are_of_the_tree() -> None:
    with pytest.raises(InputMissing):
        convert("no-such-file.pdf")
    with pytest.raises(PageRangeError):
        convert(HELLO, pages="99")
    with pytest.raises(UnknownName, match="embedded"):
        convert(HELLO, engine="nobody")
    with pytest.raises(UnknownName, match="always"):
        convert(HELLO, ocr="sometimes")


def test_unwritable_output_is_refused_before_any_page_is_read() -> None:
    engine = FakeEngine()
    with pytest.raises(OutputUnwritable):
        convert(HELLO, engine=engine, output=f"{HELLO}/below-a-file.md")
    assert engine.most_in_flight == 0


def test_cancelling_the_coroutine_ends_soon() -> None:
    async def cancelled() -> bool:
        with anyio.move_on_after(2) as scope:
            await convert_async(HELLO, engine=FakeEngine(delay=60))
        return scope.cancelled_caught

    assert anyio.run(cancelled)


def test_every_public_name_is_there_and_unknown_ones_are_refused() -> None:
    for name in moonpress.__all__:
        assert getattr(moonpress, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = moonpress.nothing
    assert dir(moonpress) == sorted(moonpress.__all__)
