"""The parent's side of a worker process.

Owns starting, calling with a hard time limit, killing and closing one child. Never knows what the
child does, never retries: callers decide what a death or a timeout means for their page.

The child is started by ``python -c`` and not by `multiprocessing`, because spawn imports the
caller's main module again: a user's script that calls ``moonpress.convert`` at top level, without a
``__main__`` guard, would start itself over and over.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from moonpress.processes.wire import HEADER_SIZE, SharedArea, body_size, decode, encode

_BOOT = "from moonpress.processes.child import main; main({})"
_PIPE_ENDED = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
_STDERR_TAIL = 2000
_CLOSE_GRACE = 2.0


class WorkerFailure(Exception):
    """A call to a worker did not bring an answer."""


class WorkerDied(WorkerFailure):
    """The child ended while it worked: a crash, the kernel's memory killer, or its limit.

    Attributes:
        exit_code: As `subprocess` gives it; negative is the number of a signal.
        stderr_tail: The last lines that the child wrote to its standard error.
    """

    def __init__(self, exit_code: int | None, stderr_tail: str) -> None:
        super().__init__(f"worker process ended with {exit_code}")
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class WorkerTimeout(WorkerFailure):
    """The call took longer than its limit; the child has been killed."""


class WorkerError(WorkerFailure):
    """The child raised something that is no `MoonpressError`; it lives and can be called again.

    Attributes:
        kind: Name of the exception's class, such as ``MemoryError``.
        detail: The child's traceback, for logs and never for users.
    """

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.detail = detail


class WorkerProcess:
    """One child that holds one object and runs its methods, one call at a time.

    Args:
        factory: ``"package.module:callable"``; called in the child with ``kwargs``, its result's
            methods can then be called.
        kwargs: Picklable arguments of the factory.
        memory_limit: Bytes of address space that calls may add to what the child has once its
            object is built (Linux); a call that needs more gets `WorkerError` with kind
            ``MemoryError``, or `WorkerDied` when native code does not check.
        env: Environment variables to add in the child.
    """

    def __init__(
        self,
        factory: str,
        kwargs: Mapping[str, Any] | None = None,
        *,
        memory_limit: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._setup = (factory, dict(kwargs or {}), memory_limit)
        self._env = dict(env or {})
        self._process: Process | None = None
        self._reader: BufferedByteReceiveStream | None = None
        self._stderr: IO[bytes] | None = None
        self._area: SharedArea | None = None
        self._killed = False

    @property
    def alive(self) -> bool:
        """Whether the child can be called; false from the moment at which it is killed."""
        if self._process is None or self._killed:
            return False
        return self._process.returncode is None

    @property
    def pid(self) -> int | None:
        """Process id of the child, if it was started."""
        return None if self._process is None else self._process.pid

    async def start(self, *, timeout: float = 60.0) -> None:
        """Start the child and build its object.

        Raises:
            MoonpressError: as the factory raised it.
            WorkerFailure: the child could not come up.
        """
        env = {**os.environ, **self._env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # It outlives this method: the tail is read when the child has died.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._area = SharedArea.create()
        descriptor = None if self._area is None else self._area.descriptor
        self._process = await anyio.open_process(
            # -P: a module in the user's current folder must not stand in for one of ours.
            [sys.executable, "-P", "-c", _BOOT.format(descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=env,
            pass_fds=() if descriptor is None else (descriptor,),
        )
        if self._process.stdout is None:
            raise RuntimeError("the worker has no output pipe")
        self._reader = BufferedByteReceiveStream(self._process.stdout)
        await self._exchange(self._setup, timeout)

    async def call(self, method: str, *args: Any, timeout: float | None = None) -> Any:
        """Run ``method`` of the child's object and return its result.

        Cancelling the call kills the child: its state would be unknown.

        Raises:
            MoonpressError: as the method raised it.
            WorkerTimeout: ``timeout`` seconds passed.
            WorkerDied: the child ended.
            WorkerError: any other exception of the method.
        """
        return await self._exchange((method, args), timeout)

    async def _exchange(self, message: object, timeout: float | None) -> Any:
        finished = False
        try:
            with anyio.fail_after(timeout):
                answer = await self._round_trip(message)
            finished = True
        except TimeoutError:
            raise WorkerTimeout(f"no answer within {timeout:g} s") from None
        except (*_PIPE_ENDED, OSError):
            raise await self._death() from None
        finally:
            if not finished:
                self.kill()
        kind, payload = answer
        if kind == "ok":
            return payload
        if kind == "raised":
            raise payload
        raise WorkerError(*payload)

    async def _round_trip(self, message: object) -> tuple[str, Any]:
        process, reader = self._process, self._reader
        if process is None or reader is None or process.stdin is None:
            raise anyio.EndOfStream
        await process.stdin.send(encode(message, self._area))
        size = body_size(await reader.receive_exactly(HEADER_SIZE))
        answer: tuple[str, Any] = decode(await reader.receive_exactly(size), self._area)
        return answer

    async def _death(self) -> WorkerDied:
        process = self._process
        if process is None:
            return WorkerDied(None, "never started")
        with anyio.move_on_after(_CLOSE_GRACE, shield=True):
            await process.wait()
        return WorkerDied(process.returncode, self._stderr_tail())

    def _stderr_tail(self) -> str:
        if self._stderr is None or self._stderr.closed:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(self._stderr.tell() - _STDERR_TAIL, 0))
        return self._stderr.read().decode(errors="replace").strip()

    def kill(self) -> None:
        """Kill the child at once; a dead or never started one is left as it is."""
        self._killed = True
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def aclose(self) -> None:
        """End the child: by end of input first, by force after two seconds."""
        process, self._process = self._process, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                await _end(process)
        for file in (self._stderr, self._area):
            if file is not None:
                file.close()


async def _end(process: Process) -> None:
    if process.returncode is None and process.stdin is not None:
        await process.stdin.aclose()
        with anyio.move_on_after(_CLOSE_GRACE):
            await process.wait()
    await process.aclose()
