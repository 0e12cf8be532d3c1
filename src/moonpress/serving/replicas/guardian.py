"""The process between the service and one vLLM server: it outlives neither of them.

Owns ending the server with all its children: when the service ends, however that happens; and what
is left of it when its main process has ended, which would otherwise keep the GPU's memory. Runs as
a script on the standard library alone, so that it is small and quick; never reads the server's
output.

SIGTERM is passed on to the server's main process. The end of standard input kills everything.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence

_PR_SET_PDEATHSIG = 1
_BY_SIGNAL = 128


def main(command: Sequence[str]) -> int:
    """Run a command in a session of its own until it or the service ends.

    Returns:
        Its exit code; 128 + n when signal n ended it.
    """
    woken, waker = socket.socketpair()
    for end in (woken, waker):
        end.settimeout(0)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    # Handlers and not SIG_IGN, which the command would inherit.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        # Safe here: this process has one thread.
        preexec_fn=_die_with_parent(),  # noqa: PLW1509
    )
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
    while child.poll() is None:
        ready = select.select([sys.stdin.fileno(), woken], [], [])[0]
        if woken in ready:
            woken.recv(4096)
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 4096):
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else _BY_SIGNAL - code


def _die_with_parent() -> Callable[[], None] | None:
    """For the case that somebody kills the guardian itself; Linux only."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
