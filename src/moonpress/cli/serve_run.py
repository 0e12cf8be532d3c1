"""What ``chandra-serve`` does after its options are read.

Owns making the service. Never answers requests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.voice import Voice
from moonpress.engines.registry import create_engine
from moonpress.errors import EngineUnavailable
from moonpress.processes.memory import return_large_blocks

_KEYS = "MOONPRESS_SERVE_KEYS"


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """One call of ``chandra-serve``; the fields are its options."""

    host: str
    port: int
    keys_file: str | None
    certificate: str | None
    key: str | None
    max_body: int
    max_pages: int
    max_queue: int
    fetch_hosts: tuple[str, ...]
    reading: EngineChoice


def run_service(command: ServeCommand, voice: Voice) -> int:
    """Serve until a signal comes.

    Raises:
        UsageError: the port is taken, or a file cannot be used.
        EngineUnavailable: a package is missing.
    """
    try:
        from moonpress.serving.keys import Keys, keys_from
        from moonpress.serving.limits import ServiceLimits
        from moonpress.serving.server import Listening, serve
        from moonpress.serving.service import Service
    except ModuleNotFoundError as error:
        message = f"serving needs the package {error.name}, which is not installed"
        raise EngineUnavailable(message, hint="Run pip install 'moonpress[serve]'") from error
    return_large_blocks()
    lines = os.environ.get(_KEYS, "").split(",")
    if command.keys_file is not None:
        lines += keys_from(Path(command.keys_file))
    limits = ServiceLimits(
        body_bytes=command.max_body << 20,
        pages=command.max_pages,
        waiting=command.max_queue,
        hosts=command.fetch_hosts,
    )
    engine = create_engine(command.reading.engine, command.reading.options(voice))
    service = Service(engine, limits, Keys(lines))
    if not voice.quiet:
        voice.say(f"Listening on http://{command.host}:{command.port}, engine {engine.name}")
    try:
        serve(service, Listening(command.host, command.port, command.certificate, command.key))
    except KeyboardInterrupt:
        # The server has finished what was under way and passes the signal on.
        if not service.draining:
            raise
    return 0
