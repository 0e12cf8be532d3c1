"""A wish to stop: finish what is in flight, begin nothing new.

Owns the flag. Never cancels anything.
"""

from __future__ import annotations

import signal


class Stop:
    """Set once by whoever asks; looked at before each new page and document.

    Attributes:
        requested: Whether somebody has asked.
        signal_number: By which signal; Ctrl-C's where it was none.
    """

    def __init__(self) -> None:
        self.requested = False
        self.signal_number: int = signal.SIGINT

    def request(self, signal_number: int = signal.SIGINT) -> None:
        """Ask the run to end after the pages in flight."""
        self.requested = True
        self.signal_number = signal_number
