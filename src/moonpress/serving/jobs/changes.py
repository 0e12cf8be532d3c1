"""Who waits for a job to change is told when it does.

Owns the events. Never knows what has changed: whoever was told looks for himself.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

import anyio


class Changes:
    """Events by name, each good for one change and kept by those who wait; for one event loop."""

    def __init__(self) -> None:
        self._events: WeakValueDictionary[str, anyio.Event] = WeakValueDictionary()

    def of(self, name: str) -> anyio.Event:
        """Set at the next change; to be asked for before one looks, or a change is missed."""
        return self._events.setdefault(name, anyio.Event())

    def tell(self, name: str) -> None:
        """Something has changed."""
        event = self._events.pop(name, None)
        if event is not None:
            event.set()
