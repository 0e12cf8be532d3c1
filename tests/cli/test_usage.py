"""Help, version, usage errors, completion, and what must not be imported for them."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from moonpress.cli import options
from moonpress.document import Delimiters
from moonpress.engines.embedded.engine import create
from moonpress.engines.registry import EngineOptions
from moonpress.errors import UnknownName
from tests.cli.command import COMMAND, Chandra

_HEAVY = ("numpy", "PIL", "rich", "cv2", "onnxruntime", "anyio", "asyncio", "moonpress.document")


def test_help_names_every_option_in_its_group(chandra: Chandra) -> None:
    help_text = chandra("--help").out.decode()

    for title in ("Input:", "Output:", "Reading:", "Messages:"):
        assert title in help_text.splitlines()
    for name in (
        *("--output", "-o", "--format", "-f", "--pages", "--dpi", "--max-image-width"),
        *("--password", "--engine", "--fast", "--languages", "--ocr", "--workers"),
        *("--concurrency", "--page-timeout", "--headers-footers", "--page-anchors"),
        *("--delimiters", "--json-logs", "--quiet", "-q", "--verbose", "--version"),
    ):
        assert name in help_text
    assert "--page-range" not in help_text
    assert "chandra-pdf report.pdf --output report.md" in help_text


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['chandra-pdf', '--help']\n"
        "from moonpress.cli.pdf import main; main()\n"
        f"sys.exit(','.join(m for m in {_HEAVY!r} if m in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )

    assert done.stderr == ""
    assert "Usage:" in done.stdout


def test_version(chandra: Chandra) -> None:
    result = chandra("--version")

    assert result.code == 0
    assert result.out.startswith(b"chandra-pdf (Moonpress) ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "FILE"),
        (("three.pdf", "--frobnicate"), "--frobnicate"),
        (("three.pdf", "four.pdf"), "four.pdf"),
        (("three.pdf", "--output"), "--output"),
        (("three.pdf", "--ocr", "maybe"), "maybe"),
        (("three.pdf", "--delimiters", "none"), "none"),
        *(((("three.pdf", "--dpi", v)), "--dpi") for v in ("5", "1e9", "nan", "inf", "x")),
        *(((("three.pdf", "--page-timeout", v)), "--page-timeout") for v in ("0", "-1", "nan")),
        (("three.pdf", "--workers", "0"), "--workers"),
        (("three.pdf", "--max-image-width", "1"), "--max-image-width"),
    ],
)
def test_wrong_usage_is_one_line(chandra: Chandra, arguments: tuple[str, ...], said: str) -> None:
    result = chandra(*arguments)

    assert result.code == 2
    assert result.line.startswith("error: ")
    assert said in result.line
    assert result.line.endswith("See chandra-pdf --help [usage]")
    assert chandra.files() == {"three.pdf"}


def test_pages_may_be_given_once_only(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "--pages", "1", "--page-range", "2")

    assert result.code == 2
    assert "--page-range" in result.line


@pytest.mark.parametrize(
    ("words", "expected"),
    [("chandra-pdf --eng", "--engine"), ("chandra-pdf a.pdf --engine em", "embedded")],
)
def test_shells_can_complete(chandra: Chandra, words: str, expected: str) -> None:
    result = chandra(
        _CHANDRA_PDF_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )

    assert expected in result.out.decode().split()


def test_a_reader_that_goes_away_is_no_error(chandra: Chandra) -> None:
    shell = f'"{COMMAND}" --help | head -n 1; "{COMMAND}" three.pdf --engine scripted -o - | true'
    done = subprocess.run(
        ["sh", "-c", shell],
        cwd=chandra.folder,
        env=chandra.env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.stderr == ""


def test_delimiters_are_those_of_the_model() -> None:
    assert set(get_args(options.DelimiterChoice)) == {d.value for d in Delimiters}


def test_the_engine_knows_every_ocr_choice_and_no_other() -> None:
    for choice in get_args(options.OcrChoice):
        create(EngineOptions(ocr=choice))
    with pytest.raises(UnknownName):
        create(EngineOptions(ocr="maybe"))
