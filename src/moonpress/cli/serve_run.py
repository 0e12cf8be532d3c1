"""What ``chandra-serve`` does after its options are read.

Owns making the service. Never answers requests.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moonpress.cli.engine_choice import EngineChoice
from moonpress.cli.serve_plan import Chosen, FleetOptions, choose, fetching
from moonpress.cli.state import state_folder
from moonpress.cli.voice import Voice
from moonpress.engines.base import Engine
from moonpress.engines.registry import create_engine
from moonpress.errors import EngineUnavailable
from moonpress.processes.memory import return_large_blocks
from moonpress.serving.replicas.gpus import look
from moonpress.serving.replicas.plan import Surroundings
from moonpress.serving.replicas.shared_folder import shared_folder

if TYPE_CHECKING:
    from moonpress.serving.jobs.start import JobChoices
    from moonpress.serving.replicas.supervisor import Supervisor

_KEYS = "MOONPRESS_SERVE_KEYS"
_WEBHOOK_SECRET = "MOONPRESS_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Bounds:
    """The options about what one request may cost, and who may ask."""

    body: int
    pages: int
    queue: int
    fetch_hosts: tuple[str, ...]
    origins: tuple[str, ...]
    upload_seconds: float

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Bounds:
        """From the values of the command's options, by the names of its parameters."""
        return cls(
            body=given["max_body"],
            pages=given["max_pages"],
            queue=given["max_queue"],
            fetch_hosts=tuple(given["fetch_host"] or ()),
            origins=tuple(given["cors_origin"] or ()),
            upload_seconds=given["upload_timeout"],
        )


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options about jobs."""

    folder: str | None
    kept_hours: float
    waiting: int
    webhook_hosts: tuple[str, ...]

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> JobOptions:
        """From the values of the command's options, by the names of its parameters."""
        hosts = tuple(given["webhook_host"] or ())
        return cls(given["jobs_dir"], given["keep_jobs"], given["max_jobs"], hosts)


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """One call of ``chandra-serve``; the fields are its options."""

    host: str
    port: int
    keys_file: str | None
    certificate: str | None
    key: str | None
    jobs: JobOptions
    bounds: Bounds
    reading: EngineChoice
    starting: FleetOptions
    replica_memory: float | None


def run_service(command: ServeCommand, voice: Voice) -> int:
    """Serve until a signal comes.

    Raises:
        UsageError: the port is taken, or a file cannot be used.
        EngineUnavailable: a package is missing.
    """
    try:
        from moonpress.serving.jobs.start import jobs_of
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
    bounds = command.bounds
    limits = ServiceLimits(
        body_bytes=bounds.body << 20,
        pages=bounds.pages,
        waiting=bounds.queue,
        hosts=bounds.fetch_hosts,
        origins=bounds.origins,
        upload_seconds=bounds.upload_seconds,
    )
    with ExitStack() as stack:
        shared = stack.enter_context(shared_folder()) if command.starting.encoder_gpus else ""
        around = Surroundings(os.environ, os.cpu_count() or 1, shared_folder=shared)
        chosen = choose(command.reading, command.starting, look, around)
        engine, supervisor = _engine(chosen, command, voice)
        service = Service(engine, limits, Keys(lines), supervisor=supervisor)
        jobs = jobs_of(service, _jobs(command))
        _tell(chosen, command, voice)
        listening = Listening(command.host, command.port, command.certificate, command.key)
        try:
            serve(service, listening, jobs)
        except KeyboardInterrupt:
            # The server has finished what was under way and passes the signal on.
            if not service.draining:
                raise
    return 0


def _jobs(command: ServeCommand) -> JobChoices:
    from moonpress.serving.jobs.start import JobChoices

    chosen = command.jobs
    usual = state_folder() / f"jobs-{command.port}"
    return JobChoices(
        folder=usual if chosen.folder is None else Path(chosen.folder),
        kept_hours=chosen.kept_hours,
        waiting=chosen.waiting,
        webhook_hosts=chosen.webhook_hosts,
        webhook_secret=os.environ.get(_WEBHOOK_SECRET) or None,
    )


def _engine(
    chosen: Chosen, command: ServeCommand, voice: Voice
) -> tuple[Engine, Supervisor | None]:
    options = chosen.reading.options(voice)
    if chosen.fleet is None:
        return create_engine(chosen.reading.engine, options), None
    from moonpress.serving.replicas.settings import SupervisorSettings
    from moonpress.serving.replicas.start import supervised

    memory = command.replica_memory
    limit = None if memory is None else round(memory * (1 << 30))
    settings = SupervisorSettings(memory_limit=limit)
    return supervised(chosen.fleet, options, settings, look=look, announce=voice.say)


def _tell(chosen: Chosen, command: ServeCommand, voice: Voice) -> None:
    """One line about where and what runs; a second when gigabytes are to be fetched."""
    if voice.quiet:
        return
    scheme = "http" if command.certificate is None else "https"
    voice.say(f"Listening on {scheme}://{command.host}:{command.port}, {chosen.line}")
    fetched = None if chosen.fleet is None else fetching(chosen.fleet, os.environ)
    if fetched is not None:
        voice.say(fetched)
