"""Tests of `moonpress.engines.chandra.wire`, on real connections over the loopback."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from threading import Event, Thread, Timer

import pytest

from moonpress.engines.chandra.wire import Wire, sending_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts it")
# Linux; the socket module has no name for it.
_SO_MAX_PACING_RATE = 47
_SIZE = 2_000_000


class Server:
    """Takes so many bytes of one connection once it is told to, and answers with one."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = self._listening.getsockname()
        self.reads = Event()
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with self._listening:
            connection, _ = self._listening.accept()
        with connection:
            self.reads.wait(60)
            left = _SIZE
            while left > 0 and (got := connection.recv(1 << 16)):
                left -= len(got)
            connection.sendall(b"x")


def _send(server: Server, *, pace: int | None = None) -> tuple[float, socket.socket]:
    connection = socket.socket()
    if pace is not None:
        connection.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, pace)
    connection.connect(server.address)
    began = time.perf_counter()
    connection.sendall(b"y" * _SIZE)
    connection.recv(1)
    return time.perf_counter() - began, connection


def test_a_slow_line_is_counted_though_the_system_takes_all_at_once() -> None:
    server = Server()
    server.reads.set()
    took, connection = _send(server, pace=4_000_000)
    with connection:
        spent = sending_seconds(connection)
    assert spent is not None
    assert 0.3 < spent <= took + 0.01


def test_a_server_that_does_not_listen_is_not_the_line() -> None:
    server = Server()
    timer = Timer(0.5, server.reads.set)
    timer.start()
    took, connection = _send(server)
    with connection:
        spent = sending_seconds(connection)
    assert spent is not None
    assert took >= 0.5
    assert spent < 0.3


def test_a_connection_that_is_used_again_counts_anew() -> None:
    async def twice() -> tuple[float | None, float | None]:
        server = Server()
        server.reads.set()
        loop = asyncio.get_running_loop()
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, 4_000_000)
        plain.setblocking(False)
        await loop.sock_connect(plain, server.address)
        reader, writer = await asyncio.open_connection(sock=plain)
        writer.write(b"y" * _SIZE)
        await reader.read(1)
        wire = Wire()
        found = wire.spent(writer.transport), wire.spent(writer.transport)
        writer.close()
        return found

    first, again = asyncio.run(twice())
    assert first is not None
    assert first > 0.3
    assert again == 0


def test_what_is_no_connection_counts_nothing() -> None:
    assert Wire().spent(None) is None
    assert sending_seconds(None) is None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        assert sending_seconds(other) is None
