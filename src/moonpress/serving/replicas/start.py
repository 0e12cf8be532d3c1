"""An engine whose servers the service starts itself.

Owns how fleet, engine, supervisor and what is known of failures and GPUs are put together. Never
starts anything by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from moonpress.engines.chandra.engine import ChandraVLLMEngine, create
from moonpress.engines.registry import EngineOptions
from moonpress.serving.replicas.complaints import known_failure
from moonpress.serving.replicas.gpus import Box
from moonpress.serving.replicas.settings import SupervisorSettings
from moonpress.serving.replicas.shrink import shrink
from moonpress.serving.replicas.spec import Fleet, ReplicaSpec
from moonpress.serving.replicas.supervisor import Advice, Supervisor


def supervised(
    fleet: Fleet,
    options: EngineOptions,
    settings: SupervisorSettings,
    *,
    look: Callable[[], Box],
    announce: Callable[[str], None],
) -> tuple[ChandraVLLMEngine, Supervisor]:
    """The engine and who keeps its servers running.

    Args:
        fleet: What to run.
        options: For the engine; servers that they name are used besides.
        settings: Bounds.
        look: Tells what GPUs there are.
        announce: Told in one line what a person should know.

    Raises:
        UsageError: an option of the engine makes no sense.
    """
    engine = create(options, more_come=True)

    def replan(spec: ReplicaSpec) -> ReplicaSpec | None:
        box = look()
        # A driver that does not answer says nothing about single GPUs: the next start will tell.
        return shrink(spec, {gpu.device for gpu in box.gpus}) if box.gpus else spec

    return engine, Supervisor(fleet, engine, settings, Advice(known_failure, replan, announce))
