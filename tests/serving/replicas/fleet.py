"""A supervisor of fake vLLM servers, and what a test does with it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from moonpress.document import PageReading
from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.serving.replicas.complaints import KnownFailure
from moonpress.serving.replicas.replica import until
from moonpress.serving.replicas.report import ReplicaReport, State
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec, Role
from moonpress.serving.replicas.supervisor import Advice, Supervisor
from tests.engines.scripted import page

FAKE = Path(__file__).with_name("fake_vllm.py")
QUICK = SupervisorSettings(
    tick=0.02,
    suspect=0.5,
    hang=2.0,
    stall=20.0,
    start=60.0,
    drain=30.0,
    grace=5.0,
    first_pause=0.05,
    longest_pause=0.2,
    start_memory=1,
)
# On a busy machine.
PATIENCE = 60.0


def _nothing_known(_lines: tuple[str, ...]) -> KnownFailure | None:
    return None


def _all_left(spec: ReplicaSpec) -> ReplicaSpec | None:
    return spec


@dataclass(slots=True)
class Stage:
    """Fake servers, their supervisor and the engine that reads through them.

    Attributes:
        script: File that tells the servers what to do.
        names: Of the replicas.
        devices: GPUs of each replica.
        roles: By name, where one does not read whole pages.
        settings: Of the supervisor.
    """

    script: Path
    names: Sequence[str] = ("one", "two")
    devices: tuple[str, ...] = ()
    roles: dict[str, Role] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    settings: SupervisorSettings = QUICK
    diagnose: Callable[[tuple[str, ...]], KnownFailure | None] = _nothing_known
    replan: Callable[[ReplicaSpec], ReplicaSpec | None] = _all_left
    said: list[str] = field(default_factory=list)
    supervisor: Supervisor = field(init=False)
    engine: ChandraVLLMEngine = field(init=False)

    def tell(self, **by_name: dict[str, Any]) -> None:
        """Change what the servers do; ``all`` is for all of them."""
        said = {"*" if name == "all" else name: what for name, what in by_name.items()}
        # In one step: servers read it at any time.
        new = self.script.with_suffix(".new")
        new.write_text(json.dumps(said))
        new.replace(self.script)

    def notes(self, kind: str, name: str | None = None) -> list[dict[str, Any]]:
        """What the servers noted."""
        path = self.script.with_suffix(".notes")
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        return [one for one in found if one["kind"] == kind and name in {None, one["name"]}]

    def fleet(self) -> Fleet:
        specs = tuple(
            ReplicaSpec(
                name=name,
                devices=self.devices,
                arguments=("--script", str(self.script), "--name", name, *self.arguments),
                role=self.roles.get(name, Role.WHOLE),
            )
            for name in self.names
        )
        return Fleet((sys.executable, str(FAKE)), "chandra", specs, "fakes")

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """The supervisor runs while the body does."""
        self.engine = ChandraVLLMEngine((), confidence=False, more_come=True)
        advice = Advice(self.diagnose, self.replan, self.said.append)
        self.supervisor = Supervisor(self.fleet(), self.engine, self.settings, advice)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.supervisor.run)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self.engine.aclose()

    def report(self, name: str) -> ReplicaReport:
        return next(one for one in self.supervisor.reports() if one.name == name)

    async def until(self, fact: Callable[[], bool], what: str = "") -> None:
        """Wait for a fact."""
        with anyio.move_on_after(PATIENCE) as waited:
            await until(fact, 0.01)
        if waited.cancelled_caught:
            raise AssertionError(f"{what or 'it'} did not come true: {self.supervisor.reports()}")

    async def until_state(self, state: State, *names: str) -> None:
        await self.until(
            lambda: all(
                any(one.name == name and one.state == state for one in self.supervisor.reports())
                for name in names or self.names
            ),
            f"{names or self.names} {state}",
        )

    async def read_many(self, count: int) -> list[str]:
        """Pages at once; which replica read each."""
        names: list[str] = []

        async def read(number: int) -> None:
            names.append(reader_of(await self.engine.read(page(number))))

        async with anyio.create_task_group() as tasks:
            for number in range(1, count + 1):
                tasks.start_soon(read, number)
        return names


def reader_of(reading: PageReading) -> str:
    assert reading.layout is not None
    return reading.layout.html.partition("A page of ")[2].partition("<")[0]


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def play(stage: Stage, work: Callable[[], Awaitable[None]]) -> None:
    """Run a test's work with the stage's servers."""

    async def go() -> None:
        with anyio.fail_after(3 * PATIENCE):
            async with stage.playing():
                await work()

    anyio.run(go)
