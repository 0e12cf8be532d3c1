"""Ctrl-C, SIGTERM and SIGHUP: the work is cancelled, so that children end and files are cleaned up.

Owns the translation of signals into exceptions and cancellation. Never prints and never decides an
exit code: see `moonpress.cli.errors`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

_Result = TypeVar("_Result")
# Windows has no SIGHUP.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopped(KeyboardInterrupt):
    """A signal other than Ctrl-C asks the process to end.

    Attributes:
        signal_number: Which.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.signal_number = signal_number


def _stop(signal_number: int, _frame: FrameType | None) -> None:
    raise Stopped(signal_number)


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise `Stopped` where they would have ended the process.

    A signal that whoever started us ignores (``nohup``) stays ignored.
    """
    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def run_interruptible(
    work: Callable[[], Coroutine[Any, Any, _Result]], *, ask: Callable[[int], None] | None = None
) -> _Result:
    """Run ``work`` in an event loop; a signal cancels it and it may clean up.

    An exception out of a signal handler would tear the event loop at any point, so inside the loop
    signals become an ordinary cancellation. `asyncio.run` does so for Ctrl-C already.

    Args:
        work: The coroutine function.
        ask: Called in the loop with the first signal, Ctrl-C too, instead of cancelling: ``work``
            may end in its own time, and the next signal cancels it.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        Stopped: another signal that `stopping_on_signals` handles.
    """
    import asyncio

    received: list[int] = []
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, *_SIGNALS)}
    handled = [number for number in _SIGNALS if previous[number] is _stop]
    if ask is not None and previous[signal.SIGINT] is not signal.SIG_IGN:
        handled.append(signal.SIGINT)

    async def cancelled_by_signals() -> _Result:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def on_signal(number: int) -> None:
            received.append(number)
            if ask is not None and len(received) == 1:
                ask(number)
            elif task is not None:
                task.cancel()

        for number in handled:
            loop.add_signal_handler(number, on_signal, number)
        return await work()

    try:
        return asyncio.run(cancelled_by_signals())
    except asyncio.CancelledError:
        if received:
            raise _as_exception(received[-1]) from None
        raise
    finally:
        # The loop has put the system's defaults in place.
        for number in handled:
            signal.signal(number, previous[number])


def _as_exception(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)
