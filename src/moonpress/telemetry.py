"""Log events and spans: what happened, and to which document, page, engine and attempt.

Owns the one event logger, the fields bound around a piece of work, the two renderings (a plain
line, a JSON object per line), and the spans that pieces of work open. Never writes anything by
itself: an entry point opens `writing_events` once, and programs that use Moonpress as a library
find the events at the standard logger ``moonpress``. Spans are nothing until somebody watches them.

Built on the standard library alone: structlog takes 0.45 CPU-seconds to import, ten times as long
as `logging`, and every worker process would pay it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Protocol, TextIO

_LOGGER = logging.getLogger("moonpress")
# Without a handler of its own, logging would print warnings to standard error.
_LOGGER.addHandler(logging.NullHandler())
_FIELDS = "moonpress_fields"
_bound: ContextVar[Mapping[str, object]] = ContextVar(
    "moonpress_event_fields", default=MappingProxyType({})
)


class SpanWatcher(Protocol):
    """Who wants to know of spans: how long pieces of work take, and which is part of which."""

    def span(self, name: str, fields: Mapping[str, object]) -> AbstractContextManager[None]:
        """Around one piece of work, in the context in which it is done."""
        ...

    def headers(self) -> Mapping[str, str]:
        """What requests to servers carry, so that their spans join ours (W3C Trace Context)."""
        ...


_watcher: ContextVar[SpanWatcher | None] = ContextVar("moonpress_span_watcher", default=None)


@contextmanager
def watching_spans(watcher: SpanWatcher) -> Iterator[None]:
    """Tell ``watcher`` of all spans inside, in tasks and threads started from here as well."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def span(name: str, **fields: object) -> AbstractContextManager[None]:
    """Around a piece of work.

    Args:
        name: Stable name, such as ``engine``.
        **fields: Numbers and short names; never text of a document.
    """
    watcher = _watcher.get()
    return nullcontext() if watcher is None else watcher.span(name, fields)


def outgoing_headers() -> Mapping[str, str]:
    """What a request to a server should carry for the span that is open here."""
    watcher = _watcher.get()
    return {} if watcher is None else watcher.headers()


def event(
    name: str,
    *,
    level: int = logging.INFO,
    error: BaseException | None = None,
    **fields: object,
) -> None:
    """Record that something happened.

    Args:
        name: Stable name in snake_case, such as ``page_done``.
        level: As in `logging`.
        error: Its traceback is recorded too.
        **fields: JSON values; they win over the bound ones.
    """
    if _LOGGER.isEnabledFor(level):
        extra = {_FIELDS: {**_bound.get(), **fields}}
        _LOGGER.log(level, name, exc_info=error, extra=extra)


@contextmanager
def bound(**fields: object) -> Iterator[None]:
    """Add ``fields`` to every event inside, in tasks and threads started from here as well."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


@contextmanager
def writing_events(stream: TextIO, *, as_json: bool) -> Iterator[None]:
    """Write all events to ``stream``, one line each; for the entry point of a command."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLines() if as_json else _PlainLines())
    before = (_LOGGER.level, _LOGGER.propagate)
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.level, _LOGGER.propagate = before


class _Lines(logging.Formatter):
    """What both renderings share: when, what, and the fields."""

    def _facts(self, record: logging.LogRecord) -> dict[str, object]:
        when = datetime.fromtimestamp(record.created, UTC)
        facts: dict[str, object] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        facts.update(getattr(record, _FIELDS, {}))
        return facts


class _JsonLines(_Lines):
    """``{"time": ..., "level": ..., "event": ..., ...}``."""

    def format(self, record: logging.LogRecord) -> str:
        facts = self._facts(record)
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts, default=str)


class _PlainLines(_Lines):
    """``time level event key=value ...``, then the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        facts = self._facts(record)
        head = " ".join(str(facts.pop(key)) for key in ("time", "level", "event"))
        # As JSON, because a file name may hold spaces, quotes and control characters.
        pairs = [f"{key}={json.dumps(value, default=str)}" for key, value in facts.items()]
        line = " ".join([head, *pairs])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
