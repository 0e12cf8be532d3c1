"""Workers on the machines of a Ray cluster: one actor each.

Owns everything that knows Ray. Never decides what is read where: see `moonpress.batch.cluster_run`.
Page pictures never leave their machine: shards go out, results come back.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import signal
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from moonpress.batch.cluster_meter import reading_of
from moonpress.batch.leases import Lease
from moonpress.batch.request import BatchRequest
from moonpress.batch.results import Result
from moonpress.batch.shard_work import (
    Introduction,
    Outcome,
    ShardWork,
    WorkerSetup,
    output_sign,
)
from moonpress.batch.shards import Shard
from moonpress.batch.sinks.store import is_remote, local_path
from moonpress.batch.workers import News, RemoteWorker, WorkerLost
from moonpress.engines.registry import EngineOptions
from moonpress.errors import EngineUnavailable, MoonpressError, UsageError

_CONNECT_SECONDS: Final = 10.0
# A model may have to be loaded.
_START_SECONDS: Final = 600.0
_ANSWER_SECONDS: Final = 60.0
_CALLS_AT_ONCE: Final = 8
_CPU: Final = "CPU"


class MoonpressWorker:
    """The worker, as Ray runs it: an object in a process of its own, with an event loop."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._work: ShardWork | None = None

    async def introduce(self) -> Introduction | MoonpressError:
        """Get ready; errors of ours are answers, since Ray would wrap them."""
        try:
            self._work = await ShardWork.started(self._setup)
        except MoonpressError as error:
            return error
        return self._work.introduction

    async def read(self, shard: Shard, lease: Lease, known: Sequence[Result]) -> Outcome:
        """Read a shard."""
        return await self._ready.read(shard, lease, known)

    async def news(self) -> News:
        """What happened since the last call."""
        results = await anyio.to_thread.run_sync(self._ready.news)
        return News(reading_of(self._ready.meter), results)

    async def stop(self) -> None:
        """Begin nothing new."""
        self._ready.stop.request()

    async def close(self) -> None:
        """End the engine."""
        if self._work is not None:
            await self._work.aclose()

    @property
    def _ready(self) -> ShardWork:
        if self._work is None:
            raise RuntimeError("it was not introduced")
        return self._work


@dataclass(frozen=True, slots=True, eq=False)
class RayWorker:
    """An actor seen from here; see `moonpress.batch.workers.RemoteWorker`."""

    name: str
    node: str
    handle: Any

    async def introduce(self) -> Introduction:
        """Wait until it is ready."""
        answer = await self._call("introduce", timeout=_START_SECONDS)
        if isinstance(answer, MoonpressError):
            raise answer
        introduction: Introduction = answer
        return introduction

    async def read(self, shard: Shard, lease: Lease, known: Sequence[Result]) -> Outcome:
        """Read a shard."""
        outcome: Outcome = await self._call("read", shard, lease, known)
        return outcome

    async def news(self) -> News:
        """What happened since the last call."""
        news: News = await self._call("news", timeout=_ANSWER_SECONDS)
        return news

    async def stop(self) -> None:
        """Begin nothing new."""
        await self._call("stop", timeout=_ANSWER_SECONDS)

    async def end(self) -> None:
        """Close it if it answers, and let Ray end its process."""
        ray = _ray()
        with suppress(WorkerLost):
            await self._call("close", timeout=_ANSWER_SECONDS)
        # Whatever Ray says of an actor that is gone, there is nothing left to be done.
        with suppress(ray.exceptions.RayError, ValueError):
            await anyio.to_thread.run_sync(ray.kill, self.handle)

    async def _call(self, method: str, *args: object, timeout: float | None = None) -> Any:
        ray = _ray()
        try:
            future = getattr(self.handle, method).remote(*args).future()
            with anyio.fail_after(timeout):
                return await asyncio.wrap_future(future)
        except ray.exceptions.RayTaskError as error:
            raise RuntimeError(f"a worker failed: {error}") from error
        except (ray.exceptions.RayError, TimeoutError) as error:
            first = str(error).strip().partition("\n")[0]
            raise WorkerLost(first or type(error).__name__) from error


class RayCluster:
    """The cluster that `connected` is connected to.

    Args:
        setup: What workers are told.
    """

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._nodes: set[str] = set()
        self._hired = 0

    async def hire(self) -> list[RemoteWorker]:
        """Start a worker on each machine that offers CPUs and has none."""
        found = await anyio.to_thread.run_sync(_nodes)
        new = [node for node in found if node["NodeID"] not in self._nodes]
        return [self._start(node) for node in new]

    def lost(self, worker: RemoteWorker) -> None:
        """Its machine may get another."""
        if isinstance(worker, RayWorker):
            self._nodes.discard(worker.node)

    def _start(self, node: dict[str, Any]) -> RayWorker:
        ray = _ray()
        strategies = import_module("ray.util.scheduling_strategies")

        self._nodes.add(node["NodeID"])
        self._hired += 1
        resources = node["Resources"]
        actor = ray.remote(MoonpressWorker).options(
            num_cpus=min(1, resources[_CPU]),
            # Ray hides the devices that are not asked for.
            num_gpus=0 if self._setup.options.server.urls else resources.get("GPU", 0),
            max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(
                node["NodeID"], soft=False
            ),
        )
        name = f"{node['NodeManagerHostname']}-{self._hired}"
        return RayWorker(name, node["NodeID"], actor.remote(self._setup))


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Inside, this process is connected to the cluster at ``address``.

    Args:
        address: ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``.

    Raises:
        UsageError: Ray is not installed, or this is no address.
        EngineUnavailable: no cluster answers there.
    """
    try:
        with warnings.catch_warnings():
            # Ray warns of its own future.
            warnings.simplefilter("ignore")
            ray = _ray()
    except ModuleNotFoundError as error:
        raise UsageError("--ray needs Ray", hint="Run pip install 'moonpress[ray]'") from error
    _knock(address)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split("\n", 1)[0].split())
        raise EngineUnavailable(
            f"no Ray cluster answers at {address}: {reason}",
            hint="Start one with ray start --head, or name its address",
        ) from error
    # Ray would end this process at once.
    signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        ray.shutdown()


def worker_setup(request: BatchRequest, engine: str, options: EngineOptions) -> WorkerSetup:
    """What workers are told."""
    root = request.sink.root
    if not is_remote(root):
        # Workers have folders of their own in which they run.
        root = str(local_path(root).absolute())
        request = replace(request, sink=replace(request.sink, root=root))
    name = hashlib.sha256(root.encode()).hexdigest()[:16]
    # What is said to a person here cannot be said from another machine.
    quiet = replace(options, announce=EngineOptions().announce)
    sign = output_sign(root, name)
    return WorkerSetup(request, engine, quiet, sign, name, version("moonpress"))


def _knock(address: str) -> None:
    """Ray tries an address for a minute before it says that nobody is there."""
    if address == "auto":
        return
    try:
        parts = urlsplit(address if "://" in address else f"gcs://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme not in {"gcs", "ray"}:
        raise UsageError(
            f"--ray {address!r} is no address of a cluster",
            hint="Write auto, HOST:PORT or ray://HOST:PORT",
        )
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise EngineUnavailable(
            f"no Ray cluster answers at {address}: {error.strerror or error}",
            hint="Start one with ray start --head, or name its address",
        ) from error


def _nodes() -> list[dict[str, Any]]:
    return [node for node in _ray().nodes() if node["Alive"] and node["Resources"].get(_CPU, 0) > 0]


def _ray() -> Any:
    """The package, which is large, and need not be there."""
    return import_module("ray")
