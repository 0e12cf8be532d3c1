"""Every form of ``--output`` and ``--format``, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Chandra
from tests.cli.small_pdf import small_pdf


def page_numbers(data: bytes) -> list[int]:
    return [page["number"] for page in json.loads(data)["pages"]]


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.md", "Page 1"), ("r.html", "<!"), ("r.json", "{"), ("r.txt", "Page 1")],
)
def test_a_file_gets_the_format_of_its_suffix(chandra: Chandra, name: str, start: str) -> None:
    result = chandra.scripted("three.pdf", "--output", name)

    assert (result.code, result.out, result.err) == (0, b"", "")
    text = (chandra.folder / name).read_text("utf-8")
    assert text.lstrip().startswith(start)
    assert "Page 3" in text
    assert chandra.files() == {"three.pdf", name}


def test_without_output_the_markdown_goes_to_the_current_folder(chandra: Chandra) -> None:
    elsewhere = chandra.folder / "deep" / "er"
    elsewhere.mkdir(parents=True)
    (chandra.folder / "three.pdf").rename(elsewhere / "three.pdf")

    assert chandra.scripted("deep/er/three.pdf").code == 0
    assert "Page 2" in (chandra.folder / "three.md").read_text("utf-8")
    assert {path.name for path in elsewhere.iterdir()} == {"three.pdf"}


def test_a_folder_gets_every_format(chandra: Chandra) -> None:
    assert chandra.scripted("three.pdf", "-o", "out/").code == 0

    written = {path.name for path in (chandra.folder / "out").iterdir()}
    assert written == {"three.md", "three.html", "three.json", "three.txt"}


def test_formats_pick_what_a_folder_gets(chandra: Chandra) -> None:
    assert chandra.scripted("three.pdf", "-o", "out/", "-f", "json,text", "-f", "json").code == 0

    assert {path.name for path in (chandra.folder / "out").iterdir()} == {"three.json", "three.txt"}


def test_standard_output_carries_the_result_and_nothing_else(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "-", "-f", "json")

    assert page_numbers(result.out) == [1, 2, 3]
    assert (result.code, result.err) == (0, "")
    assert chandra.files() == {"three.pdf"}


def test_standard_output_is_utf8_whatever_python_is_told(chandra: Chandra) -> None:
    (chandra.folder / "three.pdf").rename(chandra.folder / "dréi.pdf")

    result = chandra.scripted("dréi.pdf", "-o", "-", "-f", "json", PYTHONIOENCODING="ascii")

    assert json.loads(result.out)["source"] == "dréi.pdf"


def test_standard_input_goes_to_standard_output(chandra: Chandra) -> None:
    result = chandra.scripted("-", stdin=small_pdf(2))

    assert (result.code, result.err) == (0, "")
    assert result.out.decode().split() == ["Page", "1", "Page", "2"]
    assert chandra.files() == {"three.pdf"}


def test_standard_input_into_a_file(chandra: Chandra) -> None:
    assert chandra.scripted("-", "-o", "r.json", stdin=small_pdf(2)).code == 0
    assert page_numbers((chandra.folder / "r.json").read_bytes()) == [1, 2]


def test_standard_input_has_a_name_in_a_folder(chandra: Chandra) -> None:
    assert chandra.scripted("-", "-o", "out/", "-f", "text", stdin=small_pdf(1)).code == 0
    assert [path.name for path in (chandra.folder / "out").iterdir()] == ["document.txt"]


@pytest.mark.parametrize("option", ["--pages", "--page-range"])
def test_pages_are_counted_from_one(chandra: Chandra, option: str) -> None:
    result = chandra.scripted("three.pdf", option, "-1,1", "-o", "-", "-f", "json")

    assert sorted(page_numbers(result.out)) == [1, 3]


def test_an_older_result_is_replaced(chandra: Chandra) -> None:
    (chandra.folder / "r.txt").write_text("older " * 1000)

    assert chandra.scripted("three.pdf", "-o", "r.txt").code == 0
    assert "older" not in (chandra.folder / "r.txt").read_text()


def test_rendering_options_reach_the_output(chandra: Chandra) -> None:
    plain = chandra.scripted("three.pdf", "-o", "-").out
    anchored = chandra.scripted("three.pdf", "-o", "-", "--page-anchors").out

    assert b'"p3"' not in plain
    assert b'"p3"' in anchored


def test_the_embedded_engine_reads_by_default(chandra: Chandra) -> None:
    temporary = chandra.folder / "tmp"
    temporary.mkdir()

    result = chandra("three.pdf", "-o", "r.md", "--ocr", "never", TMPDIR=str(temporary))

    assert result.code == 0, result.err
    assert "Leaf 2 has words." in (chandra.folder / "r.md").read_text()
    # Neither crops nor what a library keeps to tell its maker.
    assert list(temporary.iterdir()) == []


def test_dpi_and_width_decide_the_size_of_the_picture(chandra: Chandra) -> None:
    def width(*options: str) -> int:
        out = chandra.scripted("three.pdf", "--pages", "1", "-o", "-", "-f", "json", *options).out
        page = json.loads(out)["pages"][0]
        return int(page["size"]["width_px"])

    assert width("--dpi", "72") == 612
    assert width("--dpi", "144", "--max-image-width", "500") == 500


def test_environment_variables_are_settings_and_flags_win(chandra: Chandra) -> None:
    def width(*options: str) -> int:
        out = chandra(
            *("three.pdf", "--pages", "1", "-o", "-", "-f", "json", *options),
            MOONPRESS_ENGINE="scripted",
            MOONPRESS_DPI="72",
        ).out
        return int(json.loads(out)["pages"][0]["size"]["width_px"])

    assert width() == 612
    assert width("--dpi", "144") == 1224


def test_a_relative_path_with_a_line_break_is_read(chandra: Chandra) -> None:
    odd = Path("two\nlines \x1b[2J.pdf")
    (chandra.folder / "three.pdf").rename(chandra.folder / odd)

    assert chandra.scripted(odd, "-o", "r.md").code == 0
