"""Requests at a steady rate over connections that are kept open, and how long each took."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go.

    Attributes:
        name: For the report.
        port: On this machine.
        headers: Beside the usual ones.
        pid: Of the program, whose CPU time is told; 0 for none.
    """

    name: str
    port: int
    headers: tuple[tuple[str, str], ...] = ()
    pid: int = 0

    def cpu_seconds(self) -> float:
        """Of the program and its children so far."""
        if not self.pid:
            return 0.0
        program = psutil.Process(self.pid)
        times = [one.cpu_times() for one in [program, *program.children(recursive=True)]]
        return float(sum(one.user + one.system for one in times))

    def request(self, body: bytes) -> bytes:
        lines = [
            "POST /v1/chat/completions HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Connections:
    """Idle connections to one port, used again as browsers and clients do."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, request: bytes) -> tuple[int, float]:
        """Status, and seconds from the first byte sent to the last received."""
        if self._idle:
            reader, writer = self._idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        if lengths:
            await reader.readexactly(lengths[0])
        else:
            await reader.readuntil(b"0\r\n\r\n")
        seconds = time.perf_counter() - began
        self._idle.append((reader, writer))
        return int(head.split()[1]), seconds

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


async def steady(target: Target, body: bytes, *, rate: float, seconds: float) -> list[float]:
    """Ask ``rate`` times a second, whether answers have come or not; seconds of each request."""
    connections = Connections(target.port)
    request = target.request(body)
    for _ in range(3):
        status, _ = await connections.ask(request)
        assert status == 200, f"{target.name} answers {status}"
    loop = asyncio.get_running_loop()
    start = loop.time()
    tasks = []
    for number in range(round(rate * seconds)):
        await asyncio.sleep(max(start + number / rate - loop.time(), 0))
        tasks.append(asyncio.create_task(connections.ask(request)))
    answers = await asyncio.gather(*tasks)
    connections.close()
    statuses = Counter(status for status, _ in answers)
    assert set(statuses) == {200}, f"{target.name} answers {dict(statuses)}"
    return [taken for _, taken in answers]


async def all_at_once(target: Target, body: bytes, count: int) -> list[tuple[int, float]]:
    """Status and seconds of each; every request has a connection of its own."""
    request = target.request(body)

    async def one() -> tuple[int, float]:
        connection = Connections(target.port)
        try:
            return await connection.ask(request)
        finally:
            connection.close()

    return await asyncio.gather(*(one() for _ in range(count)))
