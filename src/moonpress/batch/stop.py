"""A wish to stop: finish what is in flight, begin nothing new.

Owns the flag. Never cancels anything.
"""

from __future__ import annotations


class Stop:
    """Set once by whoever asks; looked at before each new page and document."""

    def __init__(self) -> None:
        self.requested = False

    def request(self) -> None:
        """Ask the run to end after the pages in flight."""
        self.requested = True
