"""Pages that fail, engines that are away, and bugs: lines and exit codes."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import Chandra
from tests.cli.small_pdf import endless_pdf


def test_one_failed_page_is_named_and_the_others_are_written(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.json", SCRIPTED_BAD="2")

    assert result.code == 3
    assert result.line == "error: three.pdf, page 2: as the script says [engine-failed]"
    pages = json.loads((chandra.folder / "r.json").read_bytes())["pages"]
    assert [page["status"] for page in pages] == ["ok", "failed", "ok"]


def test_pages_that_failed_alike_share_a_line(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", "--quiet", SCRIPTED_BAD="2 3")

    assert result.line.startswith("error: three.pdf, pages 2-3: ")


def test_when_no_page_could_be_read_nothing_is_written(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", SCRIPTED_BAD="1 2 3")

    assert result.code == 4
    assert result.line.startswith("error: three.pdf, pages 1-3: ")
    assert chandra.files() == {"three.pdf"}


def test_a_page_that_never_ends_is_given_up_and_the_next_one_read(chandra: Chandra) -> None:
    (chandra.folder / "endless.pdf").write_bytes(endless_pdf())

    result = chandra.scripted("endless.pdf", "-o", "r.md", "--page-timeout", "2")

    assert result.code == 3
    assert result.line.startswith("error: endless.pdf, page 1: ")
    assert "--page-timeout" in result.line
    assert result.line.endswith("[page-timeout]")
    assert "Page 2" in (chandra.folder / "r.md").read_text()


@pytest.mark.parametrize(("absent", "gone"), [("1", ""), ("", "1 2 3")])
def test_an_engine_that_is_away(chandra: Chandra, absent: str, gone: str) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", SCRIPTED_ABSENT=absent, SCRIPTED_GONE=gone)

    assert result.code == 5
    assert result.line.endswith("[engine-unavailable]")
    assert chandra.files() == {"three.pdf"}


def test_a_bug_of_an_engine_costs_its_page_and_no_other(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", SCRIPTED_BUG="2")

    assert result.code == 3
    assert result.line.startswith("error: three.pdf, page 2: the engine has a bug: ZeroDivision")
    assert chandra.files() == {"three.pdf", "r.md"}


def test_json_logs_hold_the_traceback_of_an_engine_bug(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", "--json-logs", SCRIPTED_BUG="2")

    events = [json.loads(line) for line in result.err.splitlines()]
    (bug,) = [event for event in events if event["event"] == "engine_bug"]
    assert (bug["level"], bug["page"]) == ("error", 2)
    assert "ZeroDivisionError" in bug["traceback"]


def test_json_logs_tell_of_every_page(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", "--json-logs", SCRIPTED_BAD="2")

    events = [json.loads(line) for line in result.err.splitlines()]
    assert [e["event"] for e in events] == [
        "document_started",
        *["page_done"] * 3,
        "written",
    ]
    assert {(e["page"], e["status"]) for e in events if "status" in e} == {
        (1, "ok"),
        (2, "failed"),
        (3, "ok"),
    }
    failed = next(e for e in events if e.get("status") == "failed")
    assert failed["problems"] == [{"code": "engine-failed", "message": "as the script says"}]
    assert (events[-1]["files"], events[-1]["failed"]) == (["r.md"], 1)


def test_json_logs_tell_what_stopped_the_run(chandra: Chandra) -> None:
    result = chandra.scripted("absent.pdf", "-o", "r.md", "--json-logs")

    last = json.loads(result.line)
    assert (last["event"], last["code"], last["exit_code"]) == ("failed", "input-missing", 4)


def test_verbose_writes_events_as_lines(chandra: Chandra) -> None:
    result = chandra.scripted("three.pdf", "-o", "r.md", "--verbose")

    assert result.code == 0
    assert 'page_done document="three.pdf" page=2 status="ok"' in result.err
