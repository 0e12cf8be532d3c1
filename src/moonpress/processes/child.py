"""The child's side of a worker process.

Owns the loop that receives calls and answers them. Never handles pages itself: it imports the
factory it is told and calls methods of what that returns.
"""

from __future__ import annotations

import importlib
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from moonpress.errors import MoonpressError
from moonpress.processes.wire import HEADER_SIZE, SharedArea, body_size, decode, encode


def main(area_descriptor: int | None) -> None:
    """Build the object that the parent asks for and run its methods until standard input ends."""
    _leave_signals_to_the_parent()
    area = None if area_descriptor is None else SharedArea(area_descriptor)
    calls, answers = _take_over_pipes()
    received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive_all, args=(calls, received), daemon=True).start()

    built: list[object] = []

    def build(factory: str, kwargs: Mapping[str, Any], memory_limit: int | None) -> None:
        built.append(_build(factory, kwargs, memory_limit))

    _answer(answers, area, build, *decode(received.get(), area))
    while built:
        method, args = decode(received.get(), area)
        _answer(answers, area, _call, built[0], method, args)


def _leave_signals_to_the_parent() -> None:
    """Terminals, Slurm and systemd signal all processes: a parent that drains still needs us."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipe to ourselves: native code that prints must not write into the protocol."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return os.fdopen(os.dup(0), "rb"), answers


def _receive_all(calls: IO[bytes], received: queue.SimpleQueue[bytes]) -> None:
    """Hand over messages; when the pipe ends the parent is gone, and so is any use of the work.

    A thread of its own, because the parent may be killed while native code keeps the main thread.
    """
    while len(header := calls.read(HEADER_SIZE)) == HEADER_SIZE:
        size = body_size(header)
        body = calls.read(size)
        if len(body) < size:
            break
        received.put(body)
    os._exit(0)


def _build(factory: str, kwargs: Mapping[str, Any], memory_limit: int | None) -> object:
    module, _, name = factory.partition(":")
    built: object = getattr(importlib.import_module(module), name)(**kwargs)
    if memory_limit is not None:
        _limit_memory(memory_limit)
    return built


def _call(target: object, method: str, args: tuple[Any, ...]) -> object:
    result: object = getattr(target, method)(*args)
    return result


def _limit_memory(limit: int) -> None:
    """Bound what is added from now on: libraries reserve address space that they never touch."""
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        bound = pages * resource.getpagesize() + limit
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def _answer(
    answers: IO[bytes], area: SharedArea | None, work: Callable[..., object], *args: Any
) -> None:
    """Run ``work`` and send what came of it; this is the edge where exceptions are translated."""
    try:
        message = encode(("ok", work(*args)), area)
    except MoonpressError as error:
        message = encode(("raised", error), area)
    except Exception as error:  # noqa: BLE001 - the edge of the child
        payload = (type(error).__name__, str(error), traceback.format_exc())
        message = encode(("error", payload), area)
    answers.write(message)
    answers.flush()
