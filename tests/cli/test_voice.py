from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpress.cli.voice import Voice, printable, write_line


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    assert printable(text).isprintable()


@given(st.text().filter(str.isprintable))
def test_what_can_be_seen_is_left_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("fdp.\u202eexe", "fdp.\\u202eexe"),
        ("caf\udce9", "caf\\udce9"),
        ("论文 é.pdf", "论文 é.pdf"),
    ],
)
def test_how_names_are_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_only_events_are_written_with_json_logs(capsys: pytest.CaptureFixture[str]) -> None:
    Voice(json_logs=True).say("for people")
    Voice(quiet=True).say("an error")

    assert capsys.readouterr().err == "an error\n"


def test_no_standard_error_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)

    write_line("nobody hears")
    assert not Voice().chatty
