"""Tesseract's table becomes lines; a missing pack is named with its package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from moonpress.document import ProblemCode
from moonpress.engines.embedded.tesseract import Tesseract

HEAD = "level page_num block_num par_num line_num word_num left top width height conf text"
TABLE = [
    HEAD.split(),
    ["4", "1", "1", "1", "1", "0", "10", "10", "900", "20", "-1", ""],
    ["5", "1", "1", "1", "1", "1", "10", "10", "80", "20", "96.5", "Добрый"],
    ["5", "1", "1", "1", "1", "2", "100", "10", "50", "20", "90.5", "день"],
    ["5", "1", "1", "1", "1", "3", "400", "10", "50", "20", "91", "\u200fдалеко\u200e"],
    ["5", "1", "1", "1", "2", "1", "10", "40", "50", "20", "3", "шум"],
]
PAGE = np.full((100, 500, 3), 255, dtype=np.uint8)


def _program(
    monkeypatch: pytest.MonkeyPatch, packs: tuple[str, ...], *, present: bool = True
) -> None:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        if "--list-langs" in command:
            text = "List of available languages (1):\n" + "\n".join(packs)
        else:
            text = "\n".join("\t".join(row) for row in TABLE)
        return subprocess.CompletedProcess(command, 0, text.encode(), b"")

    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/tesseract" if present else None)
    monkeypatch.setattr(subprocess, "run", run)


def test_words_become_lines_cut_at_wide_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    _program(monkeypatch, ("rus",))
    tesseract = Tesseract(("rus",), threads=1)
    assert tesseract.problem is None
    lines = tesseract.read(PAGE)
    assert [line.text for line in lines] == ["Добрый день", "далеко"]
    assert lines[0].confidence == pytest.approx(0.935)
    assert lines[0].box == (10, 10, 150, 30)


def test_a_missing_pack_names_its_debian_package(monkeypatch: pytest.MonkeyPatch) -> None:
    _program(monkeypatch, ("eng",))
    problem = Tesseract(("eng", "chi_sim"), threads=1).problem
    assert problem is not None
    assert problem.code == ProblemCode.LANGUAGE_PACK_MISSING
    assert problem.message.endswith("apt-get install tesseract-ocr-chi-sim")


def test_a_missing_program_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    _program(monkeypatch, (), present=False)
    problem = Tesseract(("ara",), threads=1).problem
    assert problem is not None
    assert "apt-get install tesseract-ocr tesseract-ocr-ara" in problem.message


def test_a_program_that_hangs_or_fails_gives_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    assert Tesseract(("ara",), threads=1).read(PAGE) == ()


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_the_real_program_reads_a_word(tmp_path: Path) -> None:
    tesseract = Tesseract(("eng",), threads=1)
    if tesseract.problem is not None:
        pytest.skip(tesseract.problem.message)
    page = np.full((120, 500, 3), 255, dtype=np.uint8)
    cv2.putText(page, "Language", (40, 80), cv2.FONT_HERSHEY_DUPLEX, 2, (0, 0, 0), 3)
    assert [line.text for line in tesseract.read(page)] == ["Language"]
