"""How long requests were on their way to a server, as the system's own TCP counters tell.

Owns reading the counters. Never judges them: see `moonpress.batch.bound`.

The clock of the caller cannot tell: what it hands to the system may lie in a buffer of megabytes.
Linux counts for each connection the time with unsent or unconfirmed data, and of that the time in
which the other side had no room for more (``struct tcp_info`` in ``linux/tcp.h``).
"""

from __future__ import annotations

import socket
import struct
import sys
from asyncio import BaseTransport
from typing import Final
from weakref import WeakKeyDictionary

# Of struct tcp_info: busy time and the time limited by the receiver's window, in microseconds.
_OFFSET: Final = 168
_FORMAT: Final = "=QQ"
_LENGTH: Final = _OFFSET + struct.calcsize(_FORMAT)
_MICROSECONDS: Final = 1e6


class Wire:
    """The connections of one client."""

    def __init__(self) -> None:
        self._before: WeakKeyDictionary[BaseTransport, float] = WeakKeyDictionary()

    def spent(self, transport: BaseTransport | None) -> float | None:
        """Seconds that a connection's data was on its way since the last call for it.

        Time in which the server took nothing more is not among them: that is the server's.

        Returns:
            ``None`` where the system does not tell, or the connection is gone.
        """
        total = None if transport is None else sending_seconds(transport.get_extra_info("socket"))
        if transport is None or total is None:
            return None
        before = self._before.get(transport, 0.0)
        self._before[transport] = total
        return max(total - before, 0.0)


def sending_seconds(connection: socket.socket | None) -> float | None:
    """Seconds in all that data was on its way from this end of a TCP connection."""
    if connection is None or sys.platform != "linux":
        return None
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    except OSError:
        return None
    if len(info) < _LENGTH:
        return None
    busy, no_room = struct.unpack_from(_FORMAT, info, _OFFSET)
    return float(busy - no_room) / _MICROSECONDS
