"""The server around the page: socket, signals, the browser.

Owns starting and ending. Never knows what is served, and imports nothing heavy: see
`moonpress.ui.front`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from moonpress.errors import UsageError
from moonpress.ui.front import Front, Ready

# Browsers keep a connection open all the time; nobody waits for those.
_GRACE_SECONDS = 1
_BACKLOG = 128
# What browsers send over it are clicks; files come in requests of their own.
_LONGEST_MESSAGE = 16 << 20


class PageServer:
    """Listens from its making on, so that a taken port is known before anything is loaded.

    Args:
        host: Address or name.
        port: 0 for any.

    Raises:
        UsageError: the port is taken, or the address is not ours.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._socket = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on",
                hint="Choose another --port, or end what listens there",
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self.ended_by_signal = False

    @property
    def url(self) -> str:
        """For a browser on this machine."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.host, self.host)  # noqa: S104
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}"

    def run(self, make: Callable[[], Ready], started: Callable[[], None]) -> None:
        """Serve until a signal comes.

        Args:
            make: Imports and makes the application, in a thread.
            started: Called once a browser can be sent here.

        Raises:
            MoonpressError: what ``make`` raises.
        """
        failures: list[BaseException] = []

        def failed(error: BaseException) -> None:
            failures.append(error)
            server.should_exit = True

        async def serve() -> None:
            await server.serve([self._socket])

        config = uvicorn.Config(
            lambda: Front(make, failed),
            factory=True,
            ws="websockets-sansio",
            ws_max_size=_LONGEST_MESSAGE,
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            # No header may say who asks: nothing here depends on it.
            proxy_headers=False,
            server_header=False,
        )
        server = _Server(config, started)
        try:
            asyncio.run(serve())
        finally:
            self.ended_by_signal = server.should_exit
            self._socket.close()
        if failures:
            raise failures[0]


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started_here = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started_here()
