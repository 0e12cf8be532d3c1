from __future__ import annotations

import signal

import pytest

from moonpress.cli.errors import describe, run_at_edge
from moonpress.cli.interrupts import Stopped
from moonpress.cli.voice import Voice
from moonpress.errors import (
    BadOutput,
    EngineUnavailable,
    InputMissing,
    MoonpressError,
    NoSpace,
    PageTimeout,
    UsageError,
    root_cause,
)


def run(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    def work() -> int:
        raise error

    code = run_at_edge(work, subject="a.pdf", voice=Voice())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return code, captured.err.strip()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("odd"), 2),
        (PageTimeout("slow"), 3),
        (BadOutput("nonsense"), 3),
        (InputMissing("no such file"), 4),
        (NoSpace("the disk is full"), 4),
        (EngineUnavailable("no answer"), 5),
    ],
)
def test_exit_codes(error: MoonpressError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    got, line = run(error, capsys)

    assert got == code
    assert line.startswith(f"error: a.pdf: {error.message}")
    assert line.endswith(f"[{error.code}]")


def test_a_line_names_file_page_cause_remedy_and_code() -> None:
    error = PageTimeout("it took longer than 5 s", file="x\n.pdf", page=3, hint="Wait")

    assert describe(error) == "x\\n.pdf, page 3: it took longer than 5 s. Wait [page-timeout]"
    assert error.file == "x\n.pdf"


def test_a_known_error_is_found_inside_groups(capsys: pytest.CaptureFixture[str]) -> None:
    known = NoSpace("the disk is full")
    group = BaseExceptionGroup("tasks", [ValueError(), ExceptionGroup("deeper", [known])])

    assert root_cause(group) is known
    assert run(group, capsys)[0] == 4


def test_a_bug_is_not_taken_for_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, line = run(KeyError("x\ny"), capsys)

    assert code == 1
    assert line.startswith("error: a.pdf: a bug in Moonpress: KeyError: ")
    assert line.endswith("[bug]")


@pytest.mark.parametrize(
    ("stop", "code", "said"),
    [(KeyboardInterrupt(), 130, "Ctrl-C"), (Stopped(signal.SIGTERM), 143, "SIGTERM")],
)
def test_interrupts(
    stop: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    got, line = run(stop, capsys)

    assert got == code
    assert said in line


def test_what_the_work_returns_is_the_exit_code() -> None:
    assert run_at_edge(lambda: 3, subject="a.pdf", voice=Voice()) == 3


def test_signal_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    run_at_edge(lambda: 0, subject="a.pdf", voice=Voice())

    assert signal.getsignal(signal.SIGTERM) is before
