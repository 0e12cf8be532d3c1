from __future__ import annotations

import logging

import pytest

from moonpress.serving.replicas.log import ReplicaLog


def test_the_last_lines_are_kept() -> None:
    log = ReplicaLog("gpu0")
    for number in range(1000):
        log.feed(f"line {number}\n".encode())
    assert len(log.lines) == 300
    assert log.lines[-1] == "line 999"


def test_lines_come_in_pieces_and_the_last_may_lack_its_break() -> None:
    log = ReplicaLog("gpu0")
    for piece in (b"one", b" line\nLoading: 10%\rLoading: 100%\r\n", b"\x1b[31mred\x1b[0m", b""):
        log.feed(piece)
    assert log.lines == ("one line", "Loading: 10%", "Loading: 100%", "red")


def test_a_line_without_an_end_takes_no_memory() -> None:
    log = ReplicaLog("gpu0")
    for _ in range(100):
        log.feed(b"x" * 10_000)
    log.feed(b"\nnext\n")
    assert log.lines[-1] == "next"
    assert all(len(line) <= 600 for line in log.lines)


def test_nothing_of_requests_is_kept() -> None:
    log = ReplicaLog("gpu0")
    log.feed(
        b'(APIServer pid=1) INFO:     127.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        b"INFO 12-01 00:00:00 [logger.py:39] Received request chatcmpl-1: prompt: 'Secret'\n"
        b"ERROR 12-01 00:00:00 [serving.py:1] bad url data:image/png;base64,U2VjcmV0\n"
        b"ERROR 12-01 00:00:00 [serving.py:1] 1 error {'loc': 1, 'input': 'Secret'}\n"
        b"ValueError: input_value='Secret'\n"
    )
    assert log.lines == (
        "ERROR 12-01 00:00:00 [serving.py:1] bad url ...",
        "ERROR 12-01 00:00:00 [serving.py:1] 1 error {'loc': 1, ...",
        "ValueError: ...",
    )


def test_records_become_events_at_their_level(caplog: pytest.LogCaptureFixture) -> None:
    log = ReplicaLog("gpu0")
    with caplog.at_level(logging.INFO, logger="moonpress"):
        log.feed(
            b"(EngineCore pid=7) WARNING 12-01 00:00:00 [cpu.py:104] slow\n"
            b"DEBUG 12-01 00:00:00 [x.py:1] detail\n"
            b"some library prints\n"
            b"CRITICAL 12-01 00:00:00 [x.py:1] end\n"
        )
    lines = [vars(one)["moonpress_fields"]["line"] for one in caplog.records]
    told = [(one.levelno, line[-4:]) for one, line in zip(caplog.records, lines, strict=True)]
    assert told == [(logging.WARNING, "slow"), (logging.ERROR, " end")]
