"""The events of a streamed chat completion.

Owns cutting a body into server-sent events and reading what vLLM puts into them. Never touches a
connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from moonpress.engines.layout_model import Written

_DONE = b"[DONE]"
_DATA = b"data:"


class EventSplitter:
    """Cuts a body into the data of its events, however the network cuts the body."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, body: bytes) -> Iterator[bytes]:
        """The data of the events that ``body`` completes."""
        *lines, self._rest = (self._rest + body).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                yield line[len(_DATA) :].strip()


@dataclass(frozen=True, slots=True)
class Event:
    """What one event says.

    Attributes:
        written: The next piece of the reply.
        finish_reason: ``stop``, ``length`` or another reason; ``None`` while it goes on.
        usage: ``(prompt_tokens, completion_tokens)``.
        error: What went wrong in the server, as it says it.
        error_status: The HTTP status that the error would have had, where it says so.
        last: Nothing more comes.
        sending_seconds: How long the request was on its way; with the first event, where known.
    """

    written: Written | None = None
    finish_reason: str | None = None
    usage: tuple[int, int] | None = None
    error: str | None = None
    error_status: int | None = None
    last: bool = False
    sending_seconds: float | None = None


def parse_event(data: bytes) -> Event:
    """Read one event; fields of the wrong kind count as absent.

    Raises:
        ValueError: it is no JSON.
        TypeError: it is no JSON object.
    """
    if data == _DONE:
        return Event(last=True)
    message = orjson.loads(data)
    if not isinstance(message, dict):
        raise TypeError("an event is no JSON object")
    if "error" in message:
        return _failure(message["error"])
    choices = message.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    delta = choice.get("delta") or {}
    text = delta.get("content") or ""
    scores = (choice.get("logprobs") or {}).get("content") or []
    return Event(
        written=_written(text, scores) if text or scores else None,
        finish_reason=choice.get("finish_reason"),
        usage=_usage(message.get("usage")),
    )


def _failure(error: object) -> Event:
    if not isinstance(error, dict):
        return Event(error=str(error))
    status = error.get("code")
    return Event(
        error=str(error.get("message") or error),
        error_status=status if isinstance(status, int) else None,
    )


def _usage(usage: object) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (int(prompt or 0), int(output or 0))


def _written(text: str, scores: list[dict[str, Any]]) -> Written:
    if not scores:
        return Written(text)
    logprobs = tuple(float(score["logprob"]) for score in scores)
    return Written(text, len(scores), _ends(text, scores), logprobs)


def _ends(text: str, scores: list[dict[str, Any]]) -> tuple[int, ...]:
    """Where each token ends in ``text``.

    A character may take several tokens, and servers may send several tokens at once. Where the
    tokens' own texts do not add up to ``text``, they share it evenly.
    """
    if len(scores) == 1:
        return (len(text),)
    lengths = [len(str(score.get("token") or "")) for score in scores]
    if sum(lengths) != len(text):
        count = len(scores)
        return tuple(len(text) * (index + 1) // count for index in range(count))
    ends, end = [], 0
    for length in lengths:
        end += length
        ends.append(end)
    return tuple(ends)
