"""The life of one replica: started, ready, watched, ended, started again.

Owns one replica through all its processes. Never knows of the others: see
`moonpress.serving.replicas.supervisor`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import anyio
import anyio.to_thread

from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.engines.chandra.replica import ChandraReplica
from moonpress.engines.pool import ReplicaPool, Standing
from moonpress.errors import EngineUnavailable, UsageError
from moonpress.serving.replicas import questions
from moonpress.serving.replicas.complaints import KnownFailure
from moonpress.serving.replicas.encoders import Encoders
from moonpress.serving.replicas.memory import tree_bytes
from moonpress.serving.replicas.process import (
    ReplicaProcess,
    command_of,
    environment_of,
    free_port,
)
from moonpress.serving.replicas.report import SERVING, ReplicaReport, State
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from moonpress.serving.replicas.watch import Signs, Verdict, judge, too_heavy
from moonpress.telemetry import event

# Health is asked at every other tick, counters and memory at every eighth.
_HEALTH_TICKS = 2
_COUNT_TICKS = 8
_COUNT_SECONDS = 10.0
_PAGES_FAILED = 5


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all replicas of a fleet share.

    Attributes:
        fleet: Whose command and model they run.
        settings: Bounds.
        engine: Makes the pool's members, and has the pool.
        encoders: Where encoders are apart from decoders.
        session: For questions; without a bound on time.
        starting: A place for each that may start at once.
        api_key: By which replicas know the service.
        diagnose: Finds a known failure in the lines of a log.
        replan: What to start in place of a replica of several GPUs that ended: the same, one on
            those that are left, or ``None`` when none is. May take a second.
        announce: Told in one line what a person should know.
    """

    fleet: Fleet
    settings: SupervisorSettings
    engine: ChandraVLLMEngine
    encoders: Encoders | None
    session: aiohttp.ClientSession
    starting: anyio.Semaphore
    api_key: str
    diagnose: Callable[[tuple[str, ...]], KnownFailure | None]
    replan: Callable[[ReplicaSpec], ReplicaSpec | None]
    announce: Callable[[str], None]

    def pool(self, role: Role) -> ReplicaPool:
        """Where replicas of a role get their work."""
        if role is Role.ENCODER and self.encoders is not None:
            return self.encoders.pool
        return self.engine.pool

    def member(self, role: Role, root: str) -> ChandraReplica:
        """The engine for a replica that answers at an address."""
        prepared = None
        if role is Role.DECODER and self.encoders is not None:
            prepared = self.encoders.encoded
        return self.engine.replica(root, prepared, self.api_key)


@dataclass(frozen=True, slots=True)
class _End:
    """How a life ended.

    Attributes:
        reason: In words.
        peaceful: Whether we wanted it.
        deaf: Whether there is no sense in asking it to end.
    """

    reason: str
    peaceful: bool = False
    deaf: bool = False


class Replica:
    """One vLLM server, whatever process it is just now.

    Attributes:
        spec: What is run; changes when GPUs are gone.
        state: Where it is in its life.
        reason: Why it is there, where that is no good place.
        failure: Why it ended last, until it is ready again.
        restarts: Since the service started.
        lives: How often it became ready.
        bytes_held: By its processes; ``None`` where that is not known.
        too_heavy: Why it should be restarted in peace for its memory; empty when it should not.

    Args:
        spec: What to run.
        around: What it shares with the others.
    """

    def __init__(self, spec: ReplicaSpec, around: Surroundings) -> None:
        self.spec = spec
        self.state = State.WAITING
        self.failure: KnownFailure | None = None
        self.reason = ""
        self.restarts = 0
        self.lives = 0
        self.bytes_held: int | None = None
        self._around = around
        self._process: ReplicaProcess | None = None
        self._member: ChandraReplica | None = None
        self._signs = Signs()
        self._unrest = 0
        self._vain = 0
        self._wish = ""
        self.too_heavy = ""

    @property
    def in_flight(self) -> tuple[int, int]:
        """Its pages, and the bytes of their pictures."""
        if self._member is None:
            return 0, 0
        state = self._around.pool(self.spec.role).state(self._member)
        return (0, 0) if state is None else (state.in_flight, state.bytes_in_flight)

    def report(self) -> ReplicaReport:
        """What it looks like from outside."""
        pages, size = self.in_flight
        return ReplicaReport(
            name=self.spec.name,
            state=self.state,
            role=self.spec.role,
            devices=self.spec.devices,
            in_flight=pages,
            bytes_in_flight=size,
            restarts=self.restarts,
            bytes_held=self.bytes_held,
            pid=None if self._process is None else self._process.pid,
            reason=self.reason,
            hint="" if self.failure is None else self.failure.hint,
        )

    def renew(self, reason: str) -> None:
        """Restart it in peace, if it serves: its pages are finished first."""
        if self.state in SERVING:
            self._wish = reason

    async def run(self) -> None:
        """Keep it running until cancelled, or until it is known that it never will."""
        while self.state is not State.FAILED:
            began = time.monotonic()
            lives = self.lives
            end = await self._live()
            self._wish, self.too_heavy, self.bytes_held = "", "", None
            self.restarts += 1
            if end.peaceful:
                self._enter(State.RESTARTING, end.reason)
            elif not await self._fail(end, served=self.lives > lives, began=began):
                return

    async def _live(self) -> _End:
        """One process, from its start to its end."""
        around, spec = self._around, self.spec
        port = free_port()
        command = command_of(around.fleet, spec, port)
        environment = environment_of(spec, around.api_key, os.environ)
        self._process = process = ReplicaProcess(spec.name, command, environment)
        grace = 0.0
        try:
            async with around.starting:
                self._enter(State.STARTING, "")
                ready = await self._come_up(process, f"http://127.0.0.1:{port}")
            if isinstance(ready, _End):
                return ready
            # vLLM does not listen to SIGTERM while it starts.
            grace = around.settings.grace
            end = await self._serve(process, ready)
            grace = 0.0 if end.deaf else grace
            return end
        finally:
            await process.stop(grace)

    async def _come_up(self, process: ReplicaProcess, root: str) -> ChandraReplica | _End:
        settings = self._around.settings
        try:
            await process.start()
        except EngineUnavailable as error:
            return _End(error.message)
        member = self._around.member(self.spec.role, root)
        ready = False
        give_up = float("inf")
        try:
            with anyio.move_on_after(settings.start):
                while process.exit_code is None:
                    if process.log.engine_failed:
                        give_up = min(give_up, time.monotonic() + settings.grace)
                    if time.monotonic() > give_up:
                        return _End("its engine failed to start")
                    if await questions.health(self._around.session, root) is None:
                        await member.prepare()
                        ready = True
                        return member
                    await anyio.sleep(settings.tick)
                return _End(f"it ended while starting, with code {process.exit_code}")
        except (EngineUnavailable, UsageError) as error:
            return _End(error.message)
        finally:
            if not ready:
                with anyio.CancelScope(shield=True):
                    await member.aclose()
        return _End(f"it was not ready after {settings.start:.0f} s")

    async def _serve(self, process: ReplicaProcess, member: ChandraReplica) -> _End:
        pool = self._around.pool(self.spec.role)
        self._signs, self._member = Signs(), member
        self.lives += 1
        self.failure = None
        pool.add(member, self.spec.name)
        self._enter(State.READY, "")
        reason = f"{self.spec.name} was stopped"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask, member)
                tasks.start_soon(self._count, process, member)
                end = await self._until_end(process, member)
                tasks.cancel_scope.cancel()
            reason = f"{self.spec.name}: {end.reason}"
            self._enter(State.RESTARTING, end.reason)
            return end
        finally:
            with anyio.CancelScope(shield=True):
                await pool.remove(member, reason=reason)
                self._member = None
                await member.aclose()

    async def _ask(self, member: ChandraReplica) -> None:
        root, signs, settings = member.client.address.root, self._signs, self._around.settings
        while True:
            signs.asked_at = time.monotonic()
            signs.answered(await questions.health(self._around.session, root))
            await anyio.sleep(settings.tick * _HEALTH_TICKS)

    async def _count(self, process: ReplicaProcess, member: ChandraReplica) -> None:
        root, signs, around = member.client.address.root, self._signs, self._around
        while True:
            # An encoder's counters do not say how far it is.
            if self.in_flight[0] and self.spec.role is not Role.ENCODER:
                seen = await questions.progress(around.session, root, seconds=_COUNT_SECONDS)
                signs.counted(seen, time.monotonic())
            else:
                signs.moved_at = time.monotonic()
            if process.pid is not None:
                held = await anyio.to_thread.run_sync(tree_bytes, process.pid)
                signs.bytes_held = self.bytes_held = held
            await anyio.sleep(around.settings.tick * _COUNT_TICKS)

    async def _until_end(self, process: ReplicaProcess, member: ChandraReplica) -> _End:
        """Watch it until it has to be ended, and let it finish its pages if that is in peace."""
        while True:
            await anyio.sleep(self._around.settings.tick)
            end = self._look(process, member)
            if end is not None:
                return end
            if self._wish:
                return await self._drain(process, member)

    async def _drain(self, process: ReplicaProcess, member: ChandraReplica) -> _End:
        """Give it no more pages, and wait for those that it has while it is well."""
        settings, pool = self._around.settings, self._around.pool(self.spec.role)
        self._enter(State.DRAINING, self._wish)
        end = _End(self._wish, peaceful=True)

        def ended() -> bool:
            nonlocal end
            seen = self._look(process, member)
            end = end if seen is None else seen
            return seen is not None

        async def watch() -> None:
            await until(ended, settings.tick)
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await pool.remove(member, seconds=settings.drain, reason=f"{self.spec.name} restarts")
            tasks.cancel_scope.cancel()
        return end

    def _look(self, process: ReplicaProcess, member: ChandraReplica) -> _End | None:
        """How it ended, or why it has to; else the pool is told what to think of it."""
        if process.exit_code is not None:
            return _End(f"it ended with code {process.exit_code}")
        pool, signs, now = self._around.pool(self.spec.role), self._signs, time.monotonic()
        signs.heard_at = member.client.heard_at or signs.heard_at
        state = pool.state(member)
        if state is not None and state.standing is Standing.OUT and state.failures >= _PAGES_FAILED:
            signs.failing = state.reason
        verdict, why = judge(signs, self._around.settings, now)
        if verdict in {Verdict.DEAD, Verdict.HUNG, Verdict.FAILING}:
            return _End(why, deaf=verdict is Verdict.HUNG)
        self.too_heavy = too_heavy(signs, self._around.settings)
        if self.state is State.DRAINING:
            return None
        if verdict is Verdict.SUSPECT:
            pool.suspect(member, why)
            self._enter(State.SUSPECT, why)
        else:
            pool.trust(member)
            self._enter(State.READY, "")
        return None

    async def _fail(self, end: _End, *, served: bool, began: float) -> bool:
        """Find out why, wait, and change what is started if GPUs are gone.

        Returns:
            Whether there is sense in another start.
        """
        settings, lines = self._around.settings, self._process.log.lines if self._process else ()
        known = self._around.diagnose(lines)
        self._vain = 0 if served else self._vain + 1
        failure = known or KnownFailure(end.reason, "", final=False)
        if self._vain >= settings.vain_starts and not self.lives:
            last = f"; its last words: {lines[-1]}" if lines else ""
            message = f"{failure.message}, at {self._vain} starts in a row"
            failure = KnownFailure(f"{message}{'' if known else last}", failure.hint, final=True)
        self.failure = failure
        event(
            "replica_ended",
            replica=self.spec.name,
            reason=end.reason,
            cause=failure.message,
            hint=failure.hint,
        )
        # What is final at the start may be chance in one that has served.
        if failure.final and not served:
            self._give_up(failure)
            return False
        if served and time.monotonic() - began >= settings.steady:
            self._unrest = 0
        pause = min(settings.first_pause * 2**self._unrest, settings.longest_pause)
        self._unrest += 1
        self._enter(State.RESTARTING, f"{end.reason}; it starts again in {pause:g} s")
        self._around.announce(f"{self.spec.name}: {failure.message}. It is restarted")
        await anyio.sleep(pause)
        return await self._adapt()

    async def _adapt(self) -> bool:
        """Leave out GPUs that are gone."""
        if len(self.spec.devices) < 2:
            return True
        spec = await anyio.to_thread.run_sync(self._around.replan, self.spec)
        if spec is None:
            message = f"none of its GPUs ({', '.join(self.spec.devices)}) is left"
            self._give_up(KnownFailure(message, "See nvidia-smi and dmesg", final=True))
            return False
        if spec != self.spec:
            devices = ", ".join(spec.devices)
            event("replica_smaller", replica=spec.name, devices=devices)
            self._around.announce(f"{spec.name}: goes on with the GPUs {devices}")
            self.spec = spec
        return True

    def _give_up(self, failure: KnownFailure) -> None:
        self.failure = failure
        self._enter(State.FAILED, failure.message)
        remedy = f". {failure.hint}" if failure.hint else ""
        self._around.announce(f"{self.spec.name} cannot run: {failure.message}{remedy}")

    def _enter(self, state: State, reason: str) -> None:
        if state is not self.state:
            event("replica", replica=self.spec.name, state=state.value, reason=reason)
        self.state, self.reason = state, reason


async def until(condition: Callable[[], bool], tick: float) -> None:
    """Wait for what nobody tells, looking every ``tick`` seconds."""
    while True:
        if condition():
            return
        await anyio.sleep(tick)
