"""The server around the application: sockets, signals, draining.

Owns starting and ending. Never knows the routes.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from types import FrameType

import uvicorn

from moonpress.errors import UsageError
from moonpress.serving.app import create_app
from moonpress.serving.jobs.runner import JobRunner
from moonpress.serving.service import Service
from moonpress.serving.tracing import start_exporting
from moonpress.telemetry import event

_FILES = 65_536
_EXPORTERS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


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
        # A signal comes in the midst of some request, whose id is not that of the event.
        Context().run(event, "draining", signal=signal.Signals(sig).name)
        super().handle_exit(sig, frame)


def _trace() -> None:
    """Send spans where the environment says."""
    if not any(os.environ.get(name) for name in _EXPORTERS):
        return
    try:
        start_exporting()
    except ModuleNotFoundError as error:
        message = f"sending spans needs the package {error.name}, which is not installed"
        hint = f"Run pip install 'moonpress[otel]', or unset {' and '.join(_EXPORTERS)}"
        raise UsageError(message, hint=hint) from error


def _terminal() -> bool:
    """Whether this process has a terminal that can end it."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


async def _run(server: _Server, service: Service) -> None:
    """Serve; SIGHUP restarts the replicas, and the end of all of them is the service's own."""
    supervisor = service.supervisor
    if supervisor is None:
        await server.serve()
        return
    attended = _terminal()

    def hang_up() -> None:
        if attended and not _terminal():
            # The signal says that the terminal was closed: nobody would ever end the service.
            service.draining = server.should_exit = True
        else:
            supervisor.restart_all()

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hang_up)

    async def give_up() -> None:
        await supervisor.hopeless.wait()
        service.draining = server.should_exit = True

    watching = asyncio.create_task(give_up())
    try:
        await server.serve()
    finally:
        watching.cancel()


def _allow_many_connections() -> None:
    """As many open files as the system lets us have: many start programs with 1,024."""
    try:
        import resource
    except ImportError:
        # There is no such bound on Windows.
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def serve(service: Service, listening: Listening, jobs: JobRunner | None = None) -> None:
    """Serve until a signal comes, then finish what is under way.

    Raises:
        EngineUnavailable: no replica that the service starts can run.
        UsageError: the port is taken, the certificate cannot be used, or spans are to be sent
            somewhere and cannot.
    """
    _trace()
    _allow_many_connections()
    config = uvicorn.Config(
        create_app(service, jobs),
        host=listening.host,
        port=listening.port,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=listening.drain_seconds,
        # Longer than clients keep a connection, so that none asks on one that is being closed.
        timeout_keep_alive=75,
        # No header may say who asks: nothing here depends on it.
        proxy_headers=False,
        server_header=False,
    )
    server = _Server(config, service)
    # What is there by now stays: looking through it for garbage would stop everything for 100 ms
    # now and then.
    gc.collect()
    gc.freeze()
    try:
        # uvloop where it is installed: it takes half the time for what passes through.
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_run(server, service))
    except (OSError, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return
        raise UsageError(
            f"{listening.host}:{listening.port} cannot be listened on",
            hint="Choose another --port, or end what listens there",
        ) from error
    hopeless = None if service.supervisor is None else service.supervisor.error()
    if hopeless is not None:
        raise hopeless
