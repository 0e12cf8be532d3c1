"""What a replica writes to its log: the end of it is kept, and its own records become events.

Owns the bounds, and taking out what clients sent. Never judges what the lines mean: see
`moonpress.serving.replicas.complaints`.
"""

from __future__ import annotations

import logging
import re
from collections import deque

from moonpress.telemetry import event

_LINES = 300
_LONGEST_LINE = 600
_LONGEST_PIECE = 1 << 16
_BREAK = re.compile(rb"[\r\n]+")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A record of vLLM's logger, behind the name of the process that wrote it.
_RECORD = re.compile(r"^(?:\([^)]*\)\s*)?(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b")
_REQUEST = re.compile(r'"(?:GET|POST|HEAD) /\S* HTTP/|Received request |Generated response')
# From here on a line repeats what a client sent.
_SENT = re.compile(
    r"data:(?:image|application)/|input_value=|['\"]input['\"]:|prompt(?:_token_ids)?:"
)
# What vLLM writes when its engine cannot start. Its server mostly ends then, and sometimes stays.
_ENGINE_FAILED = "EngineCore failed to start"
_LEVELS = {"WARNING": logging.WARNING, "ERROR": logging.ERROR, "CRITICAL": logging.ERROR}


class ReplicaLog:
    """The last lines of a replica's log.

    Args:
        name: Of the replica, in events.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self._lines: deque[str] = deque(maxlen=_LINES)

    @property
    def lines(self) -> tuple[str, ...]:
        """Without those about single requests, and without what clients sent."""
        return tuple(self._lines)

    @property
    def engine_failed(self) -> bool:
        """Whether the replica says that its engine could not start."""
        return any(_ENGINE_FAILED in line for line in self._lines)

    def feed(self, piece: bytes) -> None:
        """Take in what the replica wrote next; an empty piece says that it has ended."""
        *whole, rest = _BREAK.split(self._rest + piece)
        if not piece or len(rest) > _LONGEST_PIECE:
            whole, rest = [*whole, rest], b""
        self._rest = rest
        for line in whole:
            self._take(line)

    def _take(self, raw: bytes) -> None:
        text = _COLOUR.sub("", raw[:_LONGEST_PIECE].decode("utf-8", "replace")).rstrip()
        if not text or _REQUEST.search(text):
            return
        sent = _SENT.search(text)
        if sent is not None:
            text = f"{text[: sent.start()]}..."
        text = text[:_LONGEST_LINE]
        self._lines.append(text)
        record = _RECORD.match(text)
        if record is not None and record[1] != "DEBUG":
            level = _LEVELS.get(record[1], logging.INFO)
            event("replica_log", level=level, replica=self._name, line=text)
