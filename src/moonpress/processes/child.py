"""The child's side of a worker process.

Owns the loop that receives calls and answers them. Never handles pages itself: it imports the
factory it is told and calls methods of what that returns.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import signal
import struct
import sys
import traceback
from typing import IO, Any

from moonpress.errors import MoonpressError

_HEADER = struct.Struct("<Q")
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve calls from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    calls, answers = _take_over_pipes()
    target = _serve_setup(calls, answers)
    while target is not None and (message := _receive(calls)) is not None:
        method, args = message
        _answer(answers, lambda m=method, a=args: getattr(target, m)(*a))


def _die_with_parent() -> None:
    """A parent killed outright cannot close its children: ask Linux to."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipe to ourselves: native code that prints must not write into the protocol."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return os.fdopen(os.dup(0), "rb"), answers


def _limit_memory(limit: int | None) -> None:
    if limit is not None and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _serve_setup(calls: IO[bytes], answers: IO[bytes]) -> object | None:
    message = _receive(calls)
    if message is None:
        return None
    factory, kwargs, memory_limit = message
    built: list[object] = []

    def build() -> None:
        module, _, name = factory.partition(":")
        built.append(getattr(importlib.import_module(module), name)(**kwargs))
        # After the imports: libraries reserve address space that they never touch.
        _limit_memory(memory_limit)

    _answer(answers, build)
    return built[0] if built else None


def _receive(calls: IO[bytes]) -> Any:
    header = calls.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    body = calls.read(_HEADER.unpack(header)[0])
    return pickle.loads(body)


def _answer(answers: IO[bytes], work: Any) -> None:
    """Run ``work`` and send what came of it; this is the edge where exceptions are translated."""
    try:
        body = pickle.dumps(("ok", work()), protocol=5)
    except MoonpressError as error:
        body = pickle.dumps(("raised", error), protocol=5)
    except Exception as error:  # noqa: BLE001 - the edge of the child
        payload = (type(error).__name__, str(error), traceback.format_exc())
        body = pickle.dumps(("error", payload), protocol=5)
    answers.write(_HEADER.pack(len(body)))
    answers.write(body)
    answers.flush()
