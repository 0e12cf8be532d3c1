"""Trying again what may work the next time: broken connections, busy servers.

Owns the waits between tries. Never decides what is worth another try: who fails says so by raising
`Transient`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from moonpress.errors import InputUnreadable
from moonpress.sources.inputs.limits import Limits

Result = TypeVar("Result")


class Transient(Exception):
    """Another try may do it; never leaves this package.

    Args:
        message: What went wrong, in one line.
        wait: Seconds that the server asks us to wait.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.wait = wait


def retried(work: Callable[[], Result], limits: Limits) -> Result:
    """Do something, again after a while when it fails for the moment.

    Raises:
        InputUnreadable: it failed each time.
        InputError: as ``work``.
    """
    wait = limits.first_wait
    for tries_left in reversed(range(limits.attempts)):
        try:
            return work()
        except Transient as error:
            if not tries_left or (error.wait or 0) > limits.longest_wait:
                raise InputUnreadable(
                    f"{error.message} (tried {limits.attempts - tries_left} times)",
                    hint="Try again later",
                ) from None
            time.sleep(max(wait, error.wait or 0))
            wait *= 2
    raise AssertionError("attempts must be at least 1")
