"""The server around the application: sockets, signals, draining.

Owns starting and ending. Never knows the routes.
"""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from types import FrameType

import uvicorn

from moonpress.errors import UsageError
from moonpress.serving.app import create_app
from moonpress.serving.service import Service
from moonpress.telemetry import event


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and how the service listens.

    Attributes:
        host: Address or name.
        port: 0 for any.
        certificate: PEM file, for TLS.
        key: PEM file of its key.
        drain_seconds: For requests under way when the service is told to end.
    """

    host: str
    port: int
    certificate: str | None = None
    key: str | None = None
    drain_seconds: int = 120


class _Server(uvicorn.Server):
    """Refuses new requests from the first signal on, and finishes those under way."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.draining = True
        event("draining", signal=signal.Signals(sig).name)
        super().handle_exit(sig, frame)


def serve(service: Service, listening: Listening) -> None:
    """Serve until a signal comes, then finish what is under way.

    Raises:
        UsageError: the port is taken, or the certificate cannot be used.
    """
    config = uvicorn.Config(
        create_app(service),
        host=listening.host,
        port=listening.port,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=listening.drain_seconds,
        # No header may say who asks: nothing here depends on it.
        proxy_headers=False,
        server_header=False,
    )
    server = _Server(config, service)
    try:
        asyncio.run(server.serve())
    except (OSError, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return
        raise UsageError(
            f"{listening.host}:{listening.port} cannot be listened on",
            hint="Choose another --port, or end what listens there",
        ) from error
