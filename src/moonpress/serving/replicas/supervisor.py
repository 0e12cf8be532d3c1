"""All replicas of a service: started, kept running, restarted one by one, ended.

Owns what concerns several of them. The life of one is `moonpress.serving.replicas.replica`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import anyio

from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.errors import EngineUnavailable
from moonpress.serving.replicas.complaints import KnownFailure
from moonpress.serving.replicas.encoders import Encoders, folder_of
from moonpress.serving.replicas.memory import available_bytes
from moonpress.serving.replicas.replica import Replica, Surroundings, until
from moonpress.serving.replicas.report import SERVING, ReplicaReport, State
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from moonpress.telemetry import event


@dataclass(frozen=True, slots=True)
class Advice:
    """What the supervisor does not know itself; see `Surroundings`."""

    diagnose: Callable[[tuple[str, ...]], KnownFailure | None]
    replan: Callable[[ReplicaSpec], ReplicaSpec | None]
    announce: Callable[[str], None]


class Supervisor:
    """Keeps the replicas of a fleet running.

    Args:
        fleet: What to run.
        engine: Gets a member for each replica that is ready.
        settings: Bounds.
        advice: What to think of failures, and whom to tell.
    """

    def __init__(
        self,
        fleet: Fleet,
        engine: ChandraVLLMEngine,
        settings: SupervisorSettings,
        advice: Advice,
    ) -> None:
        self._fleet = fleet
        self._engine = engine
        self._settings = settings
        self._advice = advice
        self._replicas: list[Replica] = []
        self._rolling = False
        self.hopeless = anyio.Event()

    async def run(self) -> None:
        """Start all and keep them running until cancelled; then they are ended."""
        folder = folder_of(self._fleet)
        encoders = None if folder is None else Encoders(folder)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._settings.hang)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            around = Surroundings(
                fleet=self._fleet,
                settings=self._settings,
                engine=self._engine,
                encoders=encoders,
                session=session,
                starting=anyio.Semaphore(self._starts_at_once()),
                api_key=secrets.token_hex(16),
                diagnose=self._advice.diagnose,
                replan=self._advice.replan,
                announce=self._advice.announce,
            )
            self._replicas = [Replica(spec, around) for spec in self._fleet.replicas]
            async with anyio.create_task_group() as tasks:
                if encoders is not None:
                    tasks.start_soon(encoders.sweep)
                tasks.start_soon(self._renew)
                for replica in self._replicas:
                    tasks.start_soon(self._keep, replica)

    def _starts_at_once(self) -> int:
        """How many may start at once without this machine's memory running out."""
        free = available_bytes()
        count = len(self._fleet.replicas)
        if free is None:
            return count
        return max(min(free // self._settings.start_memory, count), 1)

    async def _keep(self, replica: Replica) -> None:
        await replica.run()
        readers = [one for one in self._replicas if one.spec.role is not Role.ENCODER]
        lost = all(one.state is State.FAILED for one in readers)
        # Servers that somebody else runs may still read.
        if lost and not self._engine.pool.states():
            self._engine.give_up()
            self.hopeless.set()

    def error(self) -> EngineUnavailable | None:
        """Why the service cannot go on, if it cannot."""
        if not self.hopeless.is_set():
            return None
        failures = [(one.spec.name, one.failure) for one in self._replicas if one.failure]
        if not failures:
            return EngineUnavailable(
                "the supervisor of the replicas has failed", hint="See the log"
            )
        causes: dict[str, list[str]] = {}
        for name, failure in failures:
            causes.setdefault(failure.message, []).append(name)
        message = "; ".join(f"{', '.join(names)}: {cause}" for cause, names in causes.items())
        hint = next((failure.hint for _, failure in failures if failure.hint), "")
        return EngineUnavailable(f"no replica can run: {message}", hint=hint)

    def restart_all(self) -> None:
        """Restart all replicas one by one, each after its pages; called again it starts over."""
        event("rolling_restart", replicas=len(self._replicas))
        self._rolling = True

    async def _renew(self) -> None:
        """Restart in peace, one at a time, what should be: all when told so, or those too heavy."""
        while True:
            await anyio.sleep(self._settings.tick)
            if self._rolling:
                self._rolling = False
                for replica in self._replicas:
                    await self._renew_one(replica, "rolling restart")
            for replica in self._replicas:
                if replica.too_heavy:
                    await self._renew_one(replica, replica.too_heavy)

    async def _renew_one(self, replica: Replica, reason: str) -> None:
        """Restart one and wait until it is back; the others stay meanwhile."""
        if replica.state is State.FAILED:
            return
        with anyio.move_on_after(self._settings.other_ready):
            await until(lambda: self._another_serves(replica), self._settings.tick)
        lives = replica.lives
        replica.renew(reason)
        await until(
            lambda: replica.state is State.FAILED or replica.lives > lives, self._settings.tick
        )

    def _another_serves(self, replica: Replica) -> bool:
        """Whether pages have somewhere to go; also where there never is a second replica."""
        role = replica.spec.role
        others = [
            one
            for one in self._replicas
            if one is not replica and one.spec.role is role and one.state is not State.FAILED
        ]
        return not others or any(one.state in SERVING for one in others)

    @property
    def serving(self) -> bool:
        """Whether a replica can read pages."""
        return any(
            one.state in SERVING and one.spec.role is not Role.ENCODER for one in self._replicas
        )

    def reports(self) -> tuple[ReplicaReport, ...]:
        """Of all replicas, in the order of the fleet."""
        return tuple(replica.report() for replica in self._replicas)
