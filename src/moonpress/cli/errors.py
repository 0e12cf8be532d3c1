"""The one edge of a command: whatever is raised becomes one line and an exit code.

Owns exit codes and the wording of what is no `MoonpressError` (interrupts, bugs). Never handles an
error of a single page: the pipeline does, and `moonpress.cli.report` tells of it.

Exit codes: 0 all pages read, 1 a bug, 2 bad usage, 3 some pages failed, 4 nothing could be read,
5 engine unavailable, 128 + n ended by signal n.
"""

from __future__ import annotations

import copy
import logging
import os
import signal
import sys
from collections.abc import Callable

from moonpress.cli.interrupts import Stopped, stopping_on_signals
from moonpress.cli.voice import Voice, printable
from moonpress.errors import MoonpressError, root_cause
from moonpress.telemetry import event, writing_events

BUG = 1
USAGE = 2
SOME_PAGES_FAILED = 3
NOTHING_READ = 4
ENGINE_UNAVAILABLE = 5
BY_SIGNAL = 128


def run_at_edge(work: Callable[[], int], *, subject: str, voice: Voice) -> int:
    """Run a command's work and say in one line what stopped it, if something did.

    Args:
        work: Returns the exit code when nothing stops it.
        subject: What the command works on, for errors that do not know it themselves.
        voice: How to talk.

    Returns:
        The exit code.
    """
    if (voice.verbose or voice.json_logs) and sys.stderr is not None:
        with writing_events(sys.stderr, as_json=voice.json_logs):
            return _translated(work, subject, voice)
    return _translated(work, subject, voice)


def _translated(work: Callable[[], int], subject: str, voice: Voice) -> int:
    try:
        with stopping_on_signals():
            return work()
    except Stopped as stop:
        name = signal.Signals(stop.signal_number).name
        return _tell_stop(subject, voice, f"stopped by {name}", stop.signal_number)
    except KeyboardInterrupt:
        return _tell_stop(subject, voice, "stopped by Ctrl-C", signal.SIGINT)
    except Exception as error:  # noqa: BLE001 - the edge of the command
        if _reader_is_gone(error):
            return BY_SIGNAL + signal.SIGPIPE
        return _tell_error(root_cause(error), subject, voice)


def describe(error: MoonpressError) -> str:
    """``FILE, page N: cause. Remedy [code]`` on one line, with the file's name made visible."""
    shown = copy.copy(error)
    # Before it is joined: str() folds white space, and a line break in a name is part of the name.
    shown.file = None if error.file is None else printable(error.file)
    return str(shown)


def _tell_error(error: BaseException, subject: str, voice: Voice) -> int:
    if not isinstance(error, MoonpressError):
        return _tell_bug(error, subject, voice)
    if error.file is None:
        error.file = subject
    if voice.json_logs:
        event(
            "failed",
            level=logging.ERROR,
            document=error.file,
            page=error.page,
            code=error.code,
            message=error.message,
            hint=error.hint,
            exit_code=error.exit_code,
        )
    voice.say(f"error: {describe(error)}")
    return error.exit_code


def _tell_bug(error: BaseException, subject: str, voice: Voice) -> int:
    event("bug", level=logging.ERROR, error=error, document=subject, exit_code=BUG)
    cause = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":.")
    advice = "Please report it together with what --verbose prints"
    voice.say(f"error: {printable(subject)}: a bug in Moonpress: {cause}. {advice} [bug]")
    return BUG


def _tell_stop(subject: str, voice: Voice, cause: str, number: int) -> int:
    code = BY_SIGNAL + number
    event("stopped", level=logging.WARNING, document=subject, cause=cause, exit_code=code)
    voice.say(f"error: {printable(subject)}: {cause}. No half-written file is left [stopped]")
    return code


def _reader_is_gone(error: BaseException | None) -> bool:
    """Whether whoever reads our output has seen enough, as in ``chandra-pdf a.pdf -o - | head``."""
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__cause__
    if error is None or sys.stdout is None:
        return False
    # Python would complain at exit when it flushes what is left for the closed pipe.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return True
