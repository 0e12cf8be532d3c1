"""One vLLM process: started, listened to, ended with all its children.

Owns the process and its log. Never knows whether it is well: see
`moonpress.serving.replicas.watch`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from moonpress.errors import EngineUnavailable
from moonpress.serving.replicas.log import ReplicaLog
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec

_GUARDIAN = Path(__file__).with_name("guardian.py")
_PIECE = 1 << 16
# What a killed group takes to be gone, and its last words to arrive.
_KILL_SECONDS = 10.0
_LAST_WORDS_SECONDS = 1.0
# Keys of our clients, among others: nothing that a server of models needs.
_OURS = "MOONPRESS_"


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def command_of(fleet: Fleet, spec: ReplicaSpec, port: int) -> tuple[str, ...]:
    """The command line of a replica that listens on this machine alone."""
    place = ("--host", "127.0.0.1", "--port", str(port))
    return (*fleet.command, "serve", fleet.model, *place, *spec.arguments)


def environment_of(spec: ReplicaSpec, api_key: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of a replica."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_OURS)}
    if spec.devices:
        kept["CUDA_VISIBLE_DEVICES"] = ",".join(spec.devices)
    return {**kept, "VLLM_API_KEY": api_key, **spec.environment}


class ReplicaProcess:
    """A process that dies with this one.

    Args:
        name: Of the replica.
        command: The command line.
        environment: All of its variables.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self.log = ReplicaLog(name)

    @property
    def pid(self) -> int | None:
        """Of the root of its processes, once it was started."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, 128 + n by signal n; ``None`` while it runs."""
        return None if self._process is None else self._process.returncode

    async def start(self) -> None:
        """Start it.

        Raises:
            EngineUnavailable: the system cannot.
        """
        try:
            self._process = await asyncio.create_subprocess_exec(
                # -I and -S: nothing but the standard library, and nothing of the current folder.
                *(sys.executable, "-I", "-S", os.fspath(_GUARDIAN), *self._command),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(self._environment),
                # Signals of a terminal are for the service, which ends its replicas in peace.
                start_new_session=True,
            )
        except OSError as error:
            message = f"no process can be started: {error.strerror or error}"
            raise EngineUnavailable(message, hint="") from error
        self._listening = asyncio.create_task(self._listen(self._process))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        while piece := await process.stdout.read(_PIECE):
            self.log.feed(piece)
        self.log.feed(b"")

    async def stop(self, grace: float) -> None:
        """End it: SIGTERM first, after ``grace`` seconds by force; at once when that is 0."""
        process = self._process
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            if grace and process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                with anyio.move_on_after(grace):
                    await process.wait()
            if process.stdin is not None:
                # The guardian then kills all that is left.
                process.stdin.close()
            with anyio.move_on_after(_KILL_SECONDS):
                await process.wait()
            await self.last_words()
            if process.returncode is None:
                process.kill()

    async def last_words(self) -> None:
        """Wait shortly for the end of the log of a process that has ended."""
        if self._listening is None:
            return
        await asyncio.wait([self._listening], timeout=_LAST_WORDS_SECONDS)
        self._listening.cancel()
