from __future__ import annotations

import io
import json
import logging
import subprocess
import sys

import pytest

from moonpress.telemetry import bound, event, writing_events


def test_json_lines_hold_bound_and_own_fields() -> None:
    stream = io.StringIO()
    with writing_events(stream, as_json=True), bound(document="a.pdf", page=1):
        event("page_done", page=2, attempt=1)

    record = json.loads(stream.getvalue())
    assert record.pop("time").endswith("+00:00")
    assert record == {
        "level": "info",
        "event": "page_done",
        "document": "a.pdf",
        "page": 2,
        "attempt": 1,
    }


def test_plain_lines_stay_one_line_whatever_the_name() -> None:
    stream = io.StringIO()
    with writing_events(stream, as_json=False):
        event("opened", level=logging.WARNING, document="a\nb.pdf")

    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith(' warning opened document="a\\nb.pdf"\n')


@pytest.mark.parametrize("as_json", [True, False])
def test_an_error_brings_its_traceback(as_json: bool) -> None:
    stream = io.StringIO()
    with writing_events(stream, as_json=as_json):
        try:
            raise ZeroDivisionError("on purpose")
        except ZeroDivisionError as error:
            event("bug", error=error)

    assert "ZeroDivisionError: on purpose" in stream.getvalue()
    assert "test_telemetry.py" in stream.getvalue()


def test_nothing_is_written_after_or_without_an_entry_point(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stream = io.StringIO()
    with writing_events(stream, as_json=True):
        pass
    event("late", level=logging.ERROR)

    assert stream.getvalue() == ""
    assert capfd.readouterr() == ("", "")


def test_a_library_user_finds_events_at_the_standard_logger(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="moonpress"):
        event("page_done", page=3)

    assert [record.message for record in caplog.records] == ["page_done"]


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys, moonpress.telemetry; sys.exit(any(m in sys.modules for m in ('rich','numpy')))"
    )

    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0
