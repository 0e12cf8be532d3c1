"""The jobs of a service, as its operator wants them.

Owns putting the parts together. The parts do the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from moonpress.serving.jobs.job_metrics import JobCollector
from moonpress.serving.jobs.runner import JobRunner, JobSettings
from moonpress.serving.jobs.store import JobStore
from moonpress.serving.jobs.webhooks import Webhooks
from moonpress.serving.service import Service


@dataclass(frozen=True, slots=True)
class JobChoices:
    """Choices of the operator.

    Attributes:
        folder: Of the jobs; no other service may use it at the same time.
        kept_hours: How long a job is kept after its end.
        waiting: Jobs that may wait.
        webhook_hosts: Patterns of hosts that clients may have told; empty for any public one.
        webhook_secret: Key of the signature of webhooks.
    """

    folder: Path
    kept_hours: float
    waiting: int
    webhook_hosts: tuple[str, ...]
    webhook_secret: str | None


def jobs_of(service: Service, choices: JobChoices) -> JobRunner:
    """Open the jobs of a service.

    Raises:
        UsageError: another service has the folder, or its file is none of ours.
        OutputError: it cannot be written.
    """
    store = JobStore(choices.folder, most=choices.waiting)
    store.remove_strays()
    service.metrics.registry.register(JobCollector(store.counts))
    webhooks = Webhooks(store, hosts=choices.webhook_hosts, secret=choices.webhook_secret)
    return JobRunner(service, store, JobSettings(choices.kept_hours * 3600), webhooks)
