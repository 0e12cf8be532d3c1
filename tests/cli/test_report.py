from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.cli.report import exit_code, page_list, tell_pages, tell_written
from moonpress.cli.voice import Voice
from moonpress.document import Document, Metadata, Page, PageStatus, Problem


def document(*pages: tuple[PageStatus, tuple[Problem, ...]]) -> Document:
    return Document(
        source="a.pdf",
        sha256="",
        pages=tuple(
            Page(number=number, size=None, status=status, problems=problems)
            for number, (status, problems) in enumerate(pages, start=1)
        ),
        metadata=Metadata(page_count=len(pages), media_type="application/pdf"),
    )


GONE = (Problem("engine-unavailable", "no answer"),)
SLOW = (Problem("downscaled", "drawn smaller"), Problem("page-timeout", "slow. Wait"))
OK, BLANK, PARTIAL, FAILED = PageStatus.OK, PageStatus.BLANK, PageStatus.PARTIAL, PageStatus.FAILED


@pytest.mark.parametrize(
    ("pages", "code"),
    [
        ([(OK, ()), (BLANK, ())], 0),
        ([(BLANK, ())], 0),
        ([(OK, ()), (PARTIAL, ())], 3),
        ([(PARTIAL, ())], 3),
        ([(OK, ()), (FAILED, SLOW)], 3),
        ([(BLANK, ()), (FAILED, GONE)], 3),
        ([(FAILED, SLOW), (FAILED, GONE)], 4),
        ([(FAILED, GONE), (FAILED, GONE)], 5),
        ([(FAILED, ())], 4),
    ],
)
def test_exit_code(pages: list[tuple[PageStatus, tuple[Problem, ...]]], code: int) -> None:
    assert exit_code(document(*pages)) == code


def test_each_cause_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    doubt = Problem("low-confidence", "hard to read", block_id="p4-b1")
    cut = Problem("picture-truncated", "the end is missing")
    tell_pages(
        document((FAILED, SLOW), (FAILED, SLOW), (FAILED, GONE), (PARTIAL, (doubt, cut)), (OK, ())),
        Voice(),
    )

    assert capsys.readouterr().err.splitlines() == [
        "error: a.pdf, pages 1-2: slow. Wait [page-timeout]",
        "error: a.pdf, page 3: no answer [engine-unavailable]",
        "warning: a.pdf, page 4: the end is missing [picture-truncated]",
    ]


def test_no_failure_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    tell_pages(document((FAILED, ()), (PARTIAL, ())), Voice(quiet=True))

    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_closing_line_and_notes_are_for_people_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = document((OK, (Problem("downscaled", "drawn smaller"),)), (FAILED, SLOW))
    for terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda answer=terminal: answer)
        tell_pages(read, Voice())
        tell_written(read, [Path("a.md"), Path("a_files")], 3.21, Voice())
        lines = capsys.readouterr().err.splitlines()
        if terminal:
            assert lines[1] == "note: a.pdf, page 1: drawn smaller [downscaled]"
            assert lines[-1] == "Wrote a.md, a_files (2 pages, 1 failed) in 3.2 s"
        else:
            assert lines == ["error: a.pdf, page 2: slow. Wait [page-timeout]"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([3], "page 3"),
        ([1, 2], "pages 1-2"),
        ([9, 1, 3, 2, 9], "pages 1-3, 9"),
        ([1, 3], "pages 1, 3"),
    ],
)
def test_page_list(numbers: list[int], text: str) -> None:
    assert page_list(numbers) == text


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["out/a.md"], "Wrote out/a.md ("),
        (["a.md", "a_files"], "Wrote a.md, a_files ("),
        (["out/a.html", "out/a.md"], "Wrote out/: a.html, a.md ("),
    ],
)
def test_the_closing_line_names_a_folder_once(
    paths: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    tell_written(document((OK, ())), [Path(path) for path in paths], 1.0, Voice())

    assert capsys.readouterr().err.startswith(said)


def test_what_is_missing_in_the_result_is_told_to_scripts_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pack = Problem("language-pack-missing", "install it")
    tell_pages(document((OK, (pack,)), (OK, (pack,)), (OK, ())), Voice())

    expected = "warning: a.pdf, pages 1-2: install it [language-pack-missing]\n"
    assert capsys.readouterr().err == expected


def test_many_notes_are_cut_short(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    doubts = [(OK, (Problem("low-confidence", f"{n}%"),)) for n in range(50, 90)]
    tell_pages(document(*doubts), Voice())

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "note: a.pdf: 35 more notes; JSON has them all"
